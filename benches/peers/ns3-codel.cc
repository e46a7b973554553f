// SPDX-License-Identifier: MIT
//
// goodqueue's standard case (i) for ns-3, to compare speed: one long CUBIC flow over one link of 100 Mbit/s in each
// direction, base RTT 50 ms, CoDel in both directions.
//
//   ns3-codel [simulated seconds]
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

#include <cstdlib>
#include <iostream>

#ifndef PEER_VERSION
#define PEER_VERSION ""
#endif

using namespace ns3;

int main(int argc, char* argv[])
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 20.0;
    const unsigned mss = 1448;
    const unsigned wireBytes = mss + 12 + 20 + 20 + 2; // timestamps, TCP, IPv4, PPP

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4u << 20)); // never the limit
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4u << 20));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));

    ObjectFactory scheduler("ns3::HeapScheduler");
    Simulator::SetScheduler(scheduler);

    NodeContainer nodes(2); // the server and the client

    // Packets wait in the queue disc, not in the device below it.
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", StringValue("25ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const NetDeviceContainer devices = link.Install(nodes);

    InternetStackHelper().Install(nodes);

    TrafficControlHelper codel;
    codel.SetRootQueueDisc("ns3::CoDelQueueDisc",
                           "MaxSize", StringValue("1000p"),
                           "Target", StringValue("5ms"),
                           "Interval", StringValue("100ms"),
                           "UseEcn", BooleanValue(false));
    codel.Install(devices);

    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = network.Assign(devices);

    const uint16_t port = 5001;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    source.SetAttribute("SendSize", UintegerValue(mss));
    source.Install(nodes.Get(0));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    const auto queue = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    std::cout << "{\"version\": \"" PEER_VERSION "\", \"qdisc\": \"codel\", \"simulated_s\": " << seconds
              << ", \"packets\": " << queue->GetTotalReceivedPackets() - queue->GetNPackets()
              << ", \"wire_bytes\": " << wireBytes << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
