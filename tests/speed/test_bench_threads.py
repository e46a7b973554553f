"""The benchmark of threads measures what it says, and refuses what it cannot measure."""

import pytest

from goodqueue.errors import UserError
from goodqueue.speed import bench_tables, bench_threads


def test_each_number_of_threads_has_its_row() -> None:
    found = bench_threads.run_case("iii", [1, 2, None], quick=True)
    assert [one.threads for one in found] == [1, 2, None]
    assert found[0].times_one == 1.0
    assert all(one.same and one.cpu_s > 0 for one in found)
    table = bench_tables.threads_table(found)
    assert [row[1] for row in table.rows] == ["1", "2", "auto"]
    assert {row[-1] for row in table.rows} == {"the same"}


def test_a_case_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="case vii"):
        bench_threads.run_case("vii", [1], quick=True)
