# SPDX-License-Identifier: MIT
#
# goodqueue's standard case (i) for ns-2, to compare speed: one long CUBIC flow over one link of 100 Mbit/s in each
# direction, base RTT 50 ms, CoDel in both directions.
#
#   ns ns2-codel.tcl [simulated seconds]
#
# prints one line of JSON. Every choice favours ns-2. There are only two nodes with the bottleneck between them, as in
# goodqueue. Only the necessary packet headers are used, with the fastest of ns-2's event schedulers. There is no
# trace and no queue monitor.

set seconds [expr {$argc > 0 ? [lindex $argv 0] : 100.0}]
set mss 1448
set wire_bytes 1514 ;# an Ethernet frame, with TCP timestamps

remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
$ns use-scheduler Splay
set server [$ns node]
set client [$ns node]

# Debian's ns-2 (2.35, the last release) has no CoDel. Drop-tail replaces it, and costs less. Its limit is about
# CoDel's target in packets (5 ms are 41). With a queue this short, TCP's work is the same, utilisation is similar and
# losses are few. Drop-tail of 1000 packets would lose thousands of packets, which costs ns-2 time. The printed line
# says which discipline ran.
if {[catch {delete [new Queue/CoDel]}]} {
    set queue DropTail
    set qdisc "pfifo limit 50"
    Queue set limit_ 50
} else {
    set queue CoDel
    set qdisc codel
    Queue set limit_ 1000
    Queue/CoDel set target_ 5ms
    Queue/CoDel set interval_ 100ms
}
$ns duplex-link $server $client 100Mb 25ms $queue

set tcp [new Agent/TCP/Linux]
$tcp set packetSize_ $mss
$tcp set tcpip_base_hdr_size_ [expr {$wire_bytes - $mss}]
$tcp set ts_option_size_ 0 ;# the line above counts the option
$tcp set timestamps_ true
$tcp set windowInit_ 10
$tcp set window_ 40000 ;# 58 MB: never the limit

set sink [new Agent/TCPSink/Sack1/DelAck]
$sink set packetSize_ 66
$sink set interval_ 40ms
$sink set ts_echo_rfc1323_ true

$ns attach-agent $server $tcp
$ns attach-agent $client $sink
$ns connect $tcp $sink
set source [$tcp attach-app FTP]
$ns at 0 "$tcp select_ca cubic"
$ns at 0 "$source start"

# The bottleneck forwarded what was acknowledged in order, and up to one window more. A monitor would cost time.
proc finish {} {
    global tcp qdisc seconds wire_bytes
    set packets [expr {int([$tcp set ack_]) + 1}]
    puts "{\"version\": \"[ns-version]\", \"qdisc\": \"$qdisc\", \"simulated_s\": $seconds,\
        \"packets\": $packets, \"wire_bytes\": $wire_bytes}"
    exit 0
}
$ns at $seconds finish
$ns run
