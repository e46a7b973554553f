# SPDX-License-Identifier: MIT
#
# Web traffic by PackMime for ns-2, to compare speed: 1100 new connections per second over one link of 100 Mbit/s in
# each direction, base RTT 80 ms, drop-tail of 1000 packets.
#
#   ns ns2-packmime.tcl [simulated seconds]
#
# prints one line of JSON. Every choice favours ns-2. There are only two nodes with the bottleneck between them, as in
# goodqueue, so all connections have the same RTT (no DelayBox). Only the necessary packet headers are used, with the
# fastest of ns-2's event schedulers. There is no trace and no file of results.

set seconds [expr {$argc > 0 ? [lindex $argv 0] : 10.0}]
set rate 1100

remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
$ns use-scheduler Splay
set server [$ns node]
set client [$ns node]
$ns duplex-link $server $client 100Mb 40ms DropTail
$ns queue-limit $server $client 1000
$ns queue-limit $client $server 1000

Agent/TCP/FullTcp set segsize_ 1448
Agent/TCP/FullTcp set nodelay_ true

set web [new PackMimeHTTP]
$web set-client $client
$web set-server $server
$web set-rate $rate
$web set-TCP Newreno
$web set-flow_arrive [new RandomVariable/PackMimeHTTPFlowArrive $rate]
$web set-req_size [new RandomVariable/PackMimeHTTPFileSize $rate 0]
$web set-rsp_size [new RandomVariable/PackMimeHTTPFileSize $rate 1]
$ns at 0 "$web start"

proc finish {} {
    global web seconds
    puts "{\"version\": \"[ns-version]\", \"qdisc\": \"pfifo limit 1000\", \"simulated_s\": $seconds,\
        \"responses\": [$web get-pairs]}"
    exit 0
}
$ns at $seconds finish
$ns run
