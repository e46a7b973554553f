"""What ``goodqueue list`` asks."""

from goodqueue.ask.fields import argument
from goodqueue.ask.question import Question, Work, question

TOPICS = {
    "qdiscs": "Queue disciplines",
    "cc": "Congestion controls",
    "traffic": "Kinds of traffic",
    "hops": "Kinds of hops",
    "linux": "Disciplines and TCP by release of Linux",
    "studies": "Studies",
    "suites": "Suites",
    "examples": "Examples",
}


@question
class List(Question):
    """List qdiscs, congestion controls, traffic, hops and more.

    \b
    Examples:
      goodqueue list qdiscs
      goodqueue list qdiscs codel
      goodqueue list cc cubic
      goodqueue list traffic voip
      goodqueue list cc --json
    """

    verb = "list"

    topic: str = argument("|".join(TOPICS), "What to list.", completes="topic")
    name: str | None = argument("NAME", "One of them: its words or keys.", completes="listed", is_optional=True)

    def work(self) -> Work:
        """Return the list. Raises UserError."""
        from goodqueue.catalogue import answer
        from goodqueue.errors import UserError, quoted

        if self.topic not in TOPICS:
            raise UserError("list", f"found {quoted(self.topic)}; accepted: {', '.join(TOPICS)}")
        found = answer.of_topic(self.topic) if self.name is None else answer.of_one(self.topic, self.name)
        return Work("list", lambda *_: found)
