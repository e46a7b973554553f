"""What ``goodqueue plot`` asks."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, PATHS, TEXTS
from goodqueue.plot import KINDS


@question
class Plot(Question):
    """Draw a figure of stored results, in forms that papers use. Nothing is run.

    \b
    Kinds:
      ellipse  latency against goodput, better up and to the
               right; 1 standard deviation of the runs
      cdf      a distribution: --metric delay_ms (packets in
               the queue), up_delay_ms or ping_rtt_ms
      box      the same, whiskers at p5 and p95; or a metric
               over the runs: delay_p95_ms, apps.0.rtt_ms.p99
      bar      a metric's mean over the runs, with its
               standard deviation
      time     mean over the runs, with a band; several
               metrics are rows
      jain     Jain's index of the flows' goodput
      lines    a metric along a key of the scenario: mean and
               95 % confidence interval
      law      one run as CoDel's article draws it: the
               delay, its target, each drop, the law's count
      air      who sent when on the air of a Wi-Fi cell, and
               what became of it: runs with [series.air]
      tree     which node of a provider's tree limited its
               subscribers, and when: a heat map

    \b
    Metrics of time: delay_ms, backlog_packets,
      drop_probability, goodput_mbps, cwnd_packets,
      ping_rtt_ms, hops.NAME.delay_ms, a variable of the law
      (count), stations.NAME.rate_mbps or .airtime_percent

    \b
    Examples:
      goodqueue plot ellipse store --out ellipse.svg
      goodqueue plot ellipse store --by qdisc --out panels.svg
      goodqueue plot cdf store --metric delay_ms --out cdf.pdf
      goodqueue plot lines store --x rtt --out along.svg
      goodqueue plot time store --width 3.5in --out time.pdf

    Runs that differ only in the seed are repeats: they make one line, box or ellipse. Qdiscs and values stand in the
    order in which a sweep, --where or the files name them. A KEY is a scenario's key, as in sweep --set: path.rtt,
    traffic.0.count, seed, engine. Its last word is enough if no other key ends with it. Queues, flows and metrics are
    those of the loaded direction; up_ before a name asks for the way up. Time series, and distributions of pings,
    need runs with series.interval, for example --set series.interval=200ms. A law's variables also need --set
    series.law=true. A figure follows your matplotlibrc; --style and --font come after it.
    """

    verb = "plot"
    has_json = False

    kind: str = argument("KIND", f"One of: {', '.join(KINDS)}.", completes="figure")
    paths: tuple[str, ...] = argument("PATH...", "A store, a record in JSON, or a folder of compare.", reader=PATHS)
    out: str = option("FILE", "The figure: .svg, .pdf or .png.", reader=PATH, is_required=True)
    metric: tuple[str, ...] = option(
        "NAME",
        "The metric to draw, if the kind leaves a choice; with time, repeatable.",
        reader=TEXTS,
        completes="drawn",
    )
    where: tuple[str, ...] = option(
        "KEY=V1,V2,...", "Only the runs that have one of these values; repeatable.", reader=TEXTS
    )
    by: str | None = option(
        "KEY,...", "One line, box or ellipse per value; other differences become panels.", otherwise="all"
    )
    x: str | None = option("KEY", "The horizontal axis, with lines.", completes="key")
    begin: str | None = option("TIME", "Where time and law begin, in the run: 9s.", name="from")
    end: str | None = option("TIME", "Where they end.", name="to")
    title: str = option("TEXT", "The title above the figure.", "")
    width: str | None = option(
        "LENGTH", "Width: 3.5in, 9cm, 252pt; or slide, for one of 16:9.", otherwise="5.8in, or 7.8in"
    )
    font: str | None = option("FONT", 'Font, size or both: "Times New Roman 9pt".', otherwise="by the width")
    style: str | None = option("STYLE", "A style of matplotlib, or a file of its settings.")
    label: tuple[str, ...] = option(
        "KEY=TEXT", "What the figure writes for a key, a metric or a value: rtt=Base RTT. Repeatable.", reader=TEXTS
    )
    no_note: bool = flag("Leave out the grey line below, which explains the marks.")
    force: bool = flag(shared.FORCE)

    def work(self) -> Work:
        """Return the figure, to be drawn. Raises UserError."""
        from goodqueue import extras

        extras.needed("matplotlib", self.verb)

        from goodqueue.plot import answer, plan

        planned = plan.of(self)
        return Work("figure", lambda *_: answer.of(planned))
