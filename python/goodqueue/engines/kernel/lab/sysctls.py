"""The kernel's sysctls: those that the laboratory sets in its namespaces, and those that a record contains."""

from pathlib import Path

from .addresses import EPHEMERAL
from .plan import Plan

_PROC = Path("/proc/sys/net")

RECORDED = (
    "tcp_adv_win_scale",
    "tcp_autocorking",
    "tcp_backlog_ack_defer",
    "tcp_comp_sack_rtt_percent",
    "tcp_congestion_control",
    "tcp_dsack",
    "tcp_early_retrans",
    "tcp_ecn",
    "tcp_ecn_fallback",
    "tcp_ecn_option",
    "tcp_fack",
    "tcp_frto",
    "tcp_limit_output_bytes",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_notsent_lowat",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_rcvbuf_low_rtt",
    "tcp_recovery",
    "tcp_reordering",
    "tcp_retries2",
    "tcp_rmem",
    "tcp_rto_max_ms",
    "tcp_sack",
    "tcp_slow_start_after_idle",
    "tcp_syn_linear_timeouts",
    "tcp_syn_retries",
    "tcp_thin_linear_timeouts",
    "tcp_timestamps",
    "tcp_tso_win_divisor",
    "tcp_window_scaling",
    "tcp_wmem",
    "tcp_workaround_signed_windows",
)

# Set before any interface exists: no IPv6, so that captures hold our packets alone; routes by address only.
QUIET = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/conf/all/send_redirects": "0",
    "ipv4/conf/default/send_redirects": "0",
}
FORWARDING = {"ipv4/ip_forward": "1"}


def for_hosts(plan: Plan, side: str) -> dict[str, str]:
    """Return the settings of TCP on ``side``: ECN, buffers, or such as never limit, no memory of connections, ports.

    Hosts of a plan without flows run somebody's programs, and keep what Linux has.
    """
    if not plan.flows:
        return {}
    rates = [plan.narrowest_bps(direction, route) or 0 for route in plan.routes for direction in plan.rows]
    bdp = max(rates) * (max(route.rtt_s for route in plan.routes) + sum(hop.delay_s for hop in plan.hops)) / 8
    most = max(16 << 20, int(8 * bdp))
    return {
        "ipv4/ip_local_port_range": "{} {}".format(*EPHEMERAL),
        "ipv4/tcp_no_metrics_save": "1",
        **{f"ipv4/{name}": value for name, value in plan.ecn.get(side, {}).items()},
        "ipv4/tcp_rmem": plan.buffers.get("tcp_rmem", f"4096 131072 {most}"),
        "ipv4/tcp_wmem": plan.buffers.get("tcp_wmem", f"4096 16384 {most}"),
    }


def write(settings: dict[str, str]) -> None:
    """Write ``settings`` in this network namespace. Settings that the kernel lacks, such as IPv6's, are skipped."""
    for name, value in settings.items():
        path = _PROC / name
        if path.exists():
            path.write_text(value, encoding="ascii")


def recorded() -> dict[str, str]:
    """Return TCP's sysctls in this namespace, as far as this kernel has them."""
    paths = {name: _PROC / "ipv4" / name for name in RECORDED}
    return {name: " ".join(path.read_text(encoding="ascii").split()) for name, path in paths.items() if path.exists()}
