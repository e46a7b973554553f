#!/usr/bin/env bash
# Finding: while a call sends less than it may, pion's bandwidth estimate grows to its maximum, and then never falls.
# Versions: pion/interceptor 0.1.51 (Go module proxy), its GCC and its recorder of TWCC; Go 1.26, whose testing/synctest
# makes the time virtual. Goroutines may change order, so that what the control case is allowed varies by a tenth.
# Input: frames at 30 Hz, a link of 5 Mbit/s, RTT 40 ms, 0.2 s of queue, feedback each 100 ms. For a minute the
# application sends 1 Mbit/s, as a still picture does; from then on it sends as much as the estimator allows.
# Seen: 2.3, 10.3 and 50 Mbit/s (the maximum) are allowed after 10, 30 and 60 s. Then 52.8 Mbit/s are sent into 5, 91 %
# is lost, and one minute later 50 Mbit/s are still allowed. If it always sends what it may, it is allowed 4 to 5.
# Misled: who relies on 1.5 times what arrives as the bound (draft-ietf-rmcat-gcc-02, 5.5), or on the answer to loss.
# With 250 packets since its sending a packet is forgotten, so that its report says nothing (cc's feedback adapter).
# Needs Go 1.26 or later and seconds of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="still true, after 10 s: allowed 2.3, sent 1.1 Mbit/s, lost 0 %
still true, after 30 s: allowed 10.3, sent 1.1 Mbit/s, lost 0 %
still true, after 60 s: allowed 50.0, sent 1.1 Mbit/s, lost 0 %
still true, after 70 s: allowed 50.0, sent 52.8 Mbit/s, lost 90 %
still true, after 120 s: allowed 50.0, sent 52.8 Mbit/s, lost 91 %
still false, after 60 s: sent 4.8 Mbit/s, lost 0 %
still false, after 120 s: sent 4.8 Mbit/s, lost 0 %"

fail() { echo "pion-gcc-application-limited: $1" >&2; exit 1; }
command -v go >/dev/null || fail "found no go; accepted: Go 1.26 or later"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >call_test.go <<'PROGRAM'
package call

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtp"
)

const (
	extension = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	rate      = 5e6
	oneWay    = 20 * time.Millisecond
	buffer    = 200 * time.Millisecond
	frames    = 30
	limited   = 60 // seconds at 1 Mbit/s
)

func call(t *testing.T, seconds int, still bool) {
	estimator, err := gcc.NewSendSideBWE(gcc.SendSideBWEInitialBitrate(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	recorder := twcc.NewRecorder(1)
	begin := time.Now()
	free := begin
	var sent, lost, bits float64
	link := func(h *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
		now, size := time.Now(), h.MarshalSize()+len(payload)
		if free.Before(now) {
			free = now
		}
		wire := float64(size+42) * 8
		sent, bits = sent+1, bits+wire
		if free.Sub(now) > buffer {
			lost++
			return size, nil
		}
		free = free.Add(time.Duration(wire * 1e9 / rate))
		var number rtp.TransportCCExtension
		if err := number.Unmarshal(h.GetExtension(1)); err != nil {
			return 0, err
		}
		time.AfterFunc(free.Sub(now)+oneWay, func() {
			recorder.Record(1, number.TransportSequence, time.Since(begin).Microseconds())
		})
		return size, nil
	}
	info := &interceptor.StreamInfo{SSRC: 1, RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: extension, ID: 1}}}
	stream := estimator.AddStream(info, interceptor.RTPWriterFunc(link))
	sequence := uint16(0)
	for frame := 0; frame < seconds*frames; frame++ {
		bytes := estimator.GetTargetBitrate() / 8 / frames
		if still && frame < limited*frames {
			bytes = min(bytes, 1_000_000/8/frames)
		}
		for ; bytes > 0; bytes -= 1100 {
			h := rtp.Header{Version: 2, SSRC: 1, SequenceNumber: sequence}
			number, _ := (&rtp.TransportCCExtension{TransportSequence: sequence}).Marshal()
			h.SetExtension(1, number)
			stream.Write(&h, make([]byte, min(bytes, 1100)), nil)
			sequence++
		}
		time.Sleep(time.Second / frames)
		if frame%(frames/10) == 0 {
			if packets := recorder.BuildFeedbackPacket(); len(packets) > 0 {
				time.AfterFunc(oneWay, func() { estimator.WriteRTCP(packets, nil) })
			}
		}
		if second := (frame + 1) / frames; (frame+1)%(10*frames) == 0 {
			fmt.Printf("RESULT still %v, after %d s: allowed %.1f, sent %.1f Mbit/s, lost %.0f %%\n", still, second,
				float64(estimator.GetTargetBitrate())/1e6, bits/10e6, 100*lost/sent)
			sent, lost, bits = 0, 0, 0
		}
	}
	estimator.Close()
	time.Sleep(time.Second)
}
func TestCall(t *testing.T) {
	for _, still := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) { call(t, 120, still) })
	}
}
PROGRAM
cat >go.mod <<'MODULE'
module call

go 1.26

require github.com/pion/interceptor v0.1.51
MODULE
go mod tidy >/dev/null 2>&1 || fail "go did not get pion/interceptor 0.1.51"
go test -count=1 -v . | sed -nE '/true, after (10|30|60|70|120) s/s/^RESULT //p; /false, after (60|120) s/{s/^RESULT //; s/allowed [0-9.]+, //p}' | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
