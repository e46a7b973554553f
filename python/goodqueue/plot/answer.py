"""The answer of ``goodqueue plot``: a figure in a file."""

from goodqueue.files import output
from goodqueue.plot import drawing, wishes
from goodqueue.plot.plan import Plan
from goodqueue.plot.style import encode
from goodqueue.show.answer import Answer


def of(plan: Plan) -> Answer:
    """Draw the figure, write it, and return where it is. Raises UserError."""
    asked = plan.question
    with wishes.applied(plan.wished):
        figure = drawing.of_runs(asked.kind, plan.runs, asked.metric, asked.by, asked.x, asked.title, plan.window)
    plan.wished.labels.check()
    written = output.write_file(asked.out, asked.force, encode(figure, plan.form, asked.kind))
    trouble = output.appeared(asked.out, written) if written != asked.out else None
    return Answer(asked.kind, [f"Written: {written}"], dict, figure, trouble=trouble)
