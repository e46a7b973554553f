// SPDX-License-Identifier: MIT
//
// goodqueue's standard cases for ns-3, to compare speed: long CUBIC flows over one link in each direction, with CoDel or
// FQ-CoDel in both directions.
//
//   ns3-cases FLOWS RATE RTT codel|fq_codel [simulated seconds]
//
// prints one line of JSON. Every choice favours ns-3. There are only two nodes with the bottleneck between them, as
// in goodqueue, and the fastest of ns-3's event schedulers. There is no trace, no checksum and no packet metadata.
// The application writes one segment at a time, so that ns-3 need not cut.
//
// goodqueue/speed/peers.py compiles it, with PEER_VERSION defined as the version of ns-3.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#ifndef PEER_VERSION
#define PEER_VERSION ""
#endif

using namespace ns3;

int main(int argc, char* argv[])
{
    if (argc < 5)
    {
        std::cerr << "ns3-cases: accepted: FLOWS RATE RTT codel|fq_codel [simulated seconds]" << std::endl;
        return 2;
    }
    const unsigned flows = std::atoi(argv[1]);
    const std::string rate = argv[2];
    const Time rtt(argv[3]);
    const std::string qdisc = argv[4];
    const double seconds = argc > 5 ? std::atof(argv[5]) : 20.0;
    const unsigned mss = 1448;
    const unsigned wireBytes = mss + 12 + 20 + 20 + 2; // timestamps, TCP, IPv4, PPP

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    // Never the limit. The applications fill these buffers when they start, which costs ns-3 time.
    const unsigned buffer = std::min(4u << 20, (64u << 20) / flows);
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));

    ObjectFactory scheduler("ns3::HeapScheduler");
    Simulator::SetScheduler(scheduler);

    NodeContainer nodes(2); // the server and the client

    // Packets wait in the queue disc, not in the device below it.
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(rtt / 2));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const NetDeviceContainer devices = link.Install(nodes);

    InternetStackHelper().Install(nodes);

    // The defaults of FQ-CoDel are Linux's: 1024 queues, 10240 packets, one MTU per turn.
    TrafficControlHelper control;
    const bool isFair = qdisc == "fq_codel";
    control.SetRootQueueDisc(isFair ? "ns3::FqCoDelQueueDisc" : "ns3::CoDelQueueDisc",
                             "MaxSize", StringValue(isFair ? "10240p" : "1000p"),
                             "Target", StringValue("5ms"),
                             "Interval", StringValue("100ms"),
                             "UseEcn", BooleanValue(false));
    control.Install(devices);

    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = network.Assign(devices);

    const uint16_t port = 5001;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    source.SetAttribute("SendSize", UintegerValue(mss));
    for (unsigned flow = 0; flow < flows; ++flow) // as goodqueue's, they start within 100 ms
    {
        source.Install(nodes.Get(0)).Start(MilliSeconds(100) * flow / flows);
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    const auto queue = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    std::cout << "{\"version\": \"" PEER_VERSION "\", \"qdisc\": \"" << qdisc << "\", \"simulated_s\": " << seconds
              << ", \"packets\": " << queue->GetTotalReceivedPackets() - queue->GetNPackets()
              << ", \"wire_bytes\": " << wireBytes << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
