# SPDX-License-Identifier: MIT
#
# Records what ns-2's RED, PI and REM do with given arrivals, as a reference for goodqueue's laws.
#
#   ns ns2-aqm.tcl red|ared|pi|rem
#
# prints a comment line and then one line per arrival. A line has the nanoseconds since the last arrival, the packet's
# fate (+ queued, d dropped), and the law's variables right after: ave_ prob1_ cur_max_p_ for RED, prob_ for PI and
# REM. (REM's price is not bound to Tcl, but follows from prob_.) crates/qdisc/tests/data holds the output, and
# crates/qdisc/src/aqm/ns2_tests.rs replays it. There is one queue before a link of 1 Mbit/s. Packets have 1000 bytes,
# so a transmission takes 8 ms. Arrivals come from a linear congruential generator. The load swings between starvation
# and overload, with idle gaps.

set law [lindex $argv 0]
set arrivals 1800
set size 1000

ns-random 20010425

# The parameters of each law. ns2_tests.rs has the same in its lines. Gains are raised, so that 20 seconds show an
# effect.
switch $law {
    red {
        set queue RED
        foreach {name value} {thresh_ 5 maxthresh_ 15 q_weight_ 0.02 adaptive_ 0} { Queue/RED set $name $value }
    }
    ared {
        set queue RED
        foreach {name value} {thresh_ 0 maxthresh_ 0 q_weight_ 0 adaptive_ 1} { Queue/RED set $name $value }
    }
    pi {
        set queue PI
        foreach {name value} {a_ 0.000364 b_ 0.00036 w_ 170 qref_ 20} { Queue/PI set $name $value }
    }
    rem {
        set queue REM
        foreach {name value} {gamma_ 0.05 phi_ 1.005 inw_ 0.5 pupdtime_ 0.02 pbo_ 10} { Queue/REM set $name $value }
    }
    default { error "law: red, ared, pi or rem" }
}
if {$queue eq "RED"} {
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set use_mark_p_ false
    Queue/RED set linterm_ 10
}
Queue/$queue set mean_pktsize_ $size
Queue set limit_ 1000

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 1Mb 1ms $queue
set aqm [[$ns link $from $to] queue]
set monitor [$ns monitor-queue $from $to ""]
set udp [new Agent/UDP]
$udp set packetSize_ $size
$ns attach-agent $from $udp
set sink [new Agent/Null]
$ns attach-agent $to $sink
$ns connect $udp $sink

# Returns the nanoseconds to the next arrival. Phases of 150 arrivals have mean gaps of 4, 7, 12 and 7 ms. Each gap is
# within one half of the mean. Every 331st gap is 300 ms of silence.
set seed 1
proc gap {index} {
    global seed
    set seed [expr {($seed * 1103515245 + 12345) & 0x7fffffff}]
    if {$index % 331 == 330} { return 300000037 }
    set mean [lindex {4000000 7000000 12000000 7000000} [expr {($index / 150) % 4}]]
    return [expr {$mean / 2 + ($seed >> 4) % $mean + 1}]
}

set drops 0
proc arrive {gap} {
    global aqm udp monitor law drops size
    $udp send $size
    set now [$monitor set pdrops_]
    set fate [expr {$now > $drops ? "d" : "+"}]
    set drops $now
    if {$law eq "red" || $law eq "ared"} {
        set state [format "%.9g %.9g %.9g" [$aqm set ave_] [$aqm set prob1_] [$aqm set cur_max_p_]]
    } else {
        set state [format "%.9g" [$aqm set prob_]]
    }
    puts "$gap $fate $state"
}

puts "# ns [ns-version], $law, by benches/peers/ns2-aqm.tcl"
set time 0
for {set index 0} {$index < $arrivals} {incr index} {
    set gap [gap $index]
    incr time $gap
    $ns at [format "%d.%09d" [expr {$time / 1000000000}] [expr {$time % 1000000000}]] "arrive $gap"
}
$ns at [expr {$time / 1e9 + 1}] "exit 0"
$ns run
