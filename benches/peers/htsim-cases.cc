// SPDX-License-Identifier: MIT
//
// goodqueue's standard cases for htsim, to compare speed: long NewReno flows over one FIFO of 6 ms, and back without a
// queue. htsim has neither CUBIC, SACK, delayed ACKs nor CoDel.
//
//   htsim-cases FLOWS RATE RTT [simulated seconds]     for example 10 100Mbps 50ms 100
//
// prints one line of JSON. Every choice favours htsim: no log is kept, and no host has a queue or a link of its own.
//
// goodqueue/speed/peers.py compiles it, with PEER_VERSION defined as the commit of htsim.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#ifndef PEER_VERSION
#define PEER_VERSION ""
#endif

namespace
{

const int frameBytes = 1514;
const double queueMs = 6;
const double startSpreadMs = 100;

// A FIFO that counts what it forwards.
class Bottleneck : public Queue
{
  public:
    using Queue::Queue;
    uint64_t forwarded = 0;

  protected:
    void completeService() override
    {
        ++forwarded;
        Queue::completeService();
    }
};

} // namespace

int main(int argc, char* argv[])
{
    if (argc < 4)
    {
        std::cerr << "htsim-cases: accepted: FLOWS RATE RTT [simulated seconds]" << std::endl;
        return 2;
    }
    const int flows = std::atoi(argv[1]);
    const std::string rate = argv[2];
    const double mbps = std::atof(argv[2]) * (rate.find("Gbps") == std::string::npos ? 1 : 1000);
    const double rttMs = std::atof(argv[3]);
    const double seconds = argc > 4 ? std::atof(argv[4]) : 20;

    Packet::set_packet_size(frameBytes);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    const mem_b queueBytes = static_cast<mem_b>(mbps * 1e6 / 8 * queueMs / 1e3);
    Bottleneck bottleneck(speedFromMbps(mbps), queueBytes, events, nullptr);
    Pipe down(timeFromMs(rttMs / 2), events);
    Pipe up(timeFromMs(rttMs / 2), events);
    TcpRtxTimerScanner timers(timeFromMs(10.0), events);
    for (int flow = 0; flow < flows; ++flow)
    {
        // Both live as long as the run.
        auto* sender = new TcpSrc(nullptr, nullptr, events);
        auto* receiver = new TcpSink();
        timers.registerTcp(*sender);
        auto* there = new Route();
        there->push_back(&bottleneck);
        there->push_back(&down);
        there->push_back(receiver);
        auto* back = new Route();
        back->push_back(&up);
        back->push_back(sender);
        sender->connect(*there, *back, *receiver, timeFromMs(startSpreadMs * flow / flows));
    }
    std::cout.setstate(std::ios_base::failbit); // htsim writes a line per timeout
    while (EventList::doNextEvent())
    {
    }
    std::cout.clear();
    std::cout << "{\"version\": \"" << PEER_VERSION << "\", \"qdisc\": \"drop-tail\", \"simulated_s\": " << seconds
              << ", \"packets\": " << bottleneck.forwarded << ", \"wire_bytes\": " << frameBytes << "}" << std::endl;
    return 0;
}
