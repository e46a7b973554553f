// SPDX-License-Identifier: MIT
//
// goodqueue's standard Wi-Fi cells for ns-3, to compare speed: UDP in one direction in IP packets of 1500 bytes, at a
// tenth more than the cell carries.
//
//   ns3-wifi n|g [simulated seconds]
//
// n: 802.11n, MCS 7 at 20 MHz, from the access point to one station. g: 802.11g at 54 Mbit/s, from ten stations to
// the access point. It prints one line of JSON. Choices favour ns-3: the fastest of its event schedulers, no queue
// disc, no trace except the count of packets, no checksums and no packet metadata. A full queue drops no more packets
// than necessary.
//
// goodqueue/speed/peers.py compiles it, with PEER_VERSION defined as the version of ns-3.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#ifndef PEER_VERSION
#define PEER_VERSION ""
#endif

using namespace ns3;

static uint64_t received = 0;

static void Received(Ptr<const Packet>)
{
    ++received;
}

int main(int argc, char* argv[])
{
    const bool isHt = argc < 2 || std::string(argv[1]) != "g";
    const double seconds = argc > 2 ? std::atof(argv[2]) : 5.0;
    const unsigned stations = isHt ? 1 : 10;
    const unsigned payload = 1472;
    const unsigned bytes = payload + 8 + 20; // UDP, IPv4
    const double offeredMbps = isHt ? 66.0 : 33.0; // of IP packets, by all senders together

    const Time associated = MilliSeconds(500); // when all stations are associated; simulated seconds begin then

    ObjectFactory scheduler("ns3::HeapScheduler");
    Simulator::SetScheduler(scheduler);

    NodeContainer nodes(1 + stations); // the access point first

    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    phy.Set("ChannelSettings", StringValue(isHt ? "{36, 20, BAND_5GHZ, 0}" : "{1, 20, BAND_2_4GHZ, 0}"));

    WifiHelper wifi;
    wifi.SetStandard(isHt ? WIFI_STANDARD_80211n : WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(isHt ? "HtMcs7" : "ErpOfdmRate54Mbps"),
                                 "ControlMode", StringValue(isHt ? "OfdmRate24Mbps" : "ErpOfdmRate24Mbps"));
    const Ssid ssid("cell");
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "QosSupported", BooleanValue(isHt), "Ssid", SsidValue(ssid));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes.Get(0));
    mac.SetType("ns3::StaWifiMac", "QosSupported", BooleanValue(isHt), "Ssid", SsidValue(ssid));
    for (unsigned number = 1; number <= stations; ++number)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(number)));
    }

    // All stations are equally far from the access point, so no frame in a collision is stronger.
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (unsigned number = 0; number < stations; ++number)
    {
        const double angle = 2 * M_PI * number / stations;
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = network.Assign(devices);
    TrafficControlHelper().Uninstall(devices);

    const uint16_t port = 5001;
    for (unsigned number = 1; number <= stations; ++number)
    {
        const unsigned from = isHt ? 0 : number;
        const unsigned to = isHt ? number : 0;
        UdpClientHelper client(interfaces.GetAddress(to), port + number);
        client.SetAttribute("PacketSize", UintegerValue(payload));
        client.SetAttribute("MaxPackets", UintegerValue(0xffffffff));
        client.SetAttribute("Interval", TimeValue(Seconds(stations * bytes * 8 / (offeredMbps * 1e6))));
        client.Install(nodes.Get(from)).Start(associated + MicroSeconds(100 * number)); // not in step

        UdpServerHelper server(port + number);
        server.Install(nodes.Get(to)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    }

    Simulator::Stop(associated + Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();

    std::cout << "{\"version\": \"" PEER_VERSION "\", \"qdisc\": \"pfifo\", \"simulated_s\": " << seconds
              << ", \"packets\": " << received << ", \"wire_bytes\": " << bytes << "}" << std::endl;
    return 0;
}
