# SPDX-License-Identifier: MIT
#
# goodqueue's standard cases for ns-2, to compare speed: long CUBIC flows over one link in each direction.
#
#   ns ns2-cases.tcl FLOWS RATE RTT bare|monitored [simulated seconds]
#
# for example 10 100Mbps 50ms, prints one line of JSON. Every choice favours ns-2. There are only two nodes with the
# bottleneck between them, as in goodqueue. Only the necessary packet headers are used, with the fastest of ns-2's event
# schedulers. Nothing is written to a file.
#
# "bare" measures nothing. "monitored" has ns-2's queue monitor at both queues, with counts, integrals of the length and
# each packet's delay. Of the delays ns-2 keeps the mean and the variance. Percentiles would need a trace, which costs
# more. The length of the queue down is read every 100 ms, without ns-2's queue-sample-timeout, which costs more, too.

if {$argc < 4 || [scan "[lindex $argv 1] [lindex $argv 2]" "%f%\[MG\]bps %fms" rate unit rtt_ms] != 3
    || [lsearch {bare monitored} [lindex $argv 3]] < 0} {
    puts stderr "ns2-cases: an error; accepted: FLOWS RATE RTT bare|monitored \[simulated seconds\]"
    exit 2
}
set flows [lindex $argv 0]
set mbps [expr {$unit eq "G" ? 1000 * $rate : $rate}]
set is_monitored [string equal [lindex $argv 3] monitored]
set seconds [expr {$argc > 4 ? [lindex $argv 4] : 100.0}]
set mss 1448
set wire_bytes 1514 ;# an Ethernet frame, with TCP timestamps

remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
$ns use-scheduler Splay
set server [$ns node]
set client [$ns node]

# Debian's ns-2 (2.35, the last release) has neither CoDel nor FQ-CoDel. Drop-tail replaces them, and costs less. Its
# limit is about CoDel's target: 6 ms, in packets. With a queue this short, TCP's work is the same, utilisation is
# similar and losses are few. Drop-tail of 1000 packets would lose thousands of packets, which costs ns-2 time.
set limit [expr {int($mbps / 2)}]
Queue set limit_ $limit
$ns duplex-link $server $client ${mbps}Mb [expr {$rtt_ms / 2}]ms DropTail

set monitors {}
if {$is_monitored} {
    foreach {from to} [list $server $client $client $server] {
        set monitor [$ns monitor-queue $from $to 0]
        $monitor set-delay-samples [new Samples]
        lappend monitors $monitor
    }
    $ns at 0 sample
}

proc sample {} {
    global ns monitors lengths
    lappend lengths [[lindex $monitors 0] set pkts_]
    $ns at [expr {[$ns now] + 0.1}] sample
}

set senders {}
for {set flow 0} {$flow < $flows} {incr flow} {
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
    $ns at [expr {0.1 * $flow / $flows}] "$source start" ;# as goodqueue's, they start within 100 ms
    lappend senders $tcp
}

# The bottleneck forwarded what was acknowledged in order, and up to one window more. So says "monitored", too: it
# simulates the same, and the two are compared.
proc finish {} {
    global senders monitors lengths limit seconds wire_bytes
    set packets 0
    foreach tcp $senders { incr packets [expr {int([$tcp set ack_]) + 1}] }
    set measured ""
    if {[llength $monitors]} {
        set down [lindex $monitors 0]
        set delays [$down get-delay-samples]
        set mean [expr {[$delays cnt] ? 1e3 * [$delays mean] : 0}]
        set most [lindex [lsort -integer $lengths] end]
        set measured ", \"departures\": [$down set pdepartures_], \"drops\": [$down set pdrops_],\
            \"mean_ms\": $mean, \"most_packets\": $most"
    }
    # The first line break ends what ns-2 itself may have written half.
    puts "\n{\"version\": \"[ns-version]\", \"qdisc\": \"pfifo limit $limit\", \"simulated_s\": $seconds,\
        \"packets\": $packets, \"wire_bytes\": $wire_bytes$measured}"
    exit 0
}
$ns at $seconds finish
$ns run
