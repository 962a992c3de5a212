"""Other projects' test designs see what they can see in principle, and accuse nothing right."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks import peers
from benchmarks.pages import peers as pages
from benchmarks.peer_designs import PEERS, Design, clip_chunks
from cachecheck.faults import FAULTS
from cachecheck.target import Target, as_target

CALLS = 60
BY_ID = {design.id: design for design in PEERS}
MOST = {"generate-then-full", "greedy-against-uncached", "single-tokens", "prefill-and-one"}
CHUNKS = {"two-halves", "chunks-of-4", "chunks-of-16", "frozen-case"}

every_design = pytest.mark.parametrize("design", PEERS, ids=lambda design: design.id)


def target(fault: str, *, right: bool = False) -> Target:
    return as_target(FAULTS[fault].right if right else FAULTS[fault].make, fault)


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - nothing secret about it


def sees(design: Design, fault: str, calls: int = CALLS) -> bool:
    return peers.repeated(design, target(fault), seeded(0), calls)[0]


def test_a_mask_at_the_top_left_is_seen_by_whoever_compares_rows_after_a_history() -> None:
    seen = {one.id for one in PEERS if sees(one, "copying-mask-top-left")}
    assert seen >= MOST | CHUNKS
    assert not seen & {"continue-from-past", "mean-of-prefill"}


def test_a_missing_mask_is_seen_by_chunks_onto_a_history_alone() -> None:
    seen = {one.id for one in PEERS if sees(one, "copying-mask-missing")}
    assert seen >= CHUNKS
    assert not seen & {"single-tokens", "continue-from-past"}


def test_argmaxes_and_means_see_what_moves_them() -> None:
    assert sees(BY_ID["argmax-20"], "copying-mask-top-left", 400)
    assert sees(BY_ID["mean-of-prefill"], "copying-mask-missing")


def test_cached_against_cached_sees_what_is_not_the_same_twice() -> None:
    assert sees(BY_ID["continue-from-past"], "copying-left-behind")


def test_ours_sees_what_no_single_branch_shows() -> None:
    assert peers.searched(target("copying-crop-ignored"), seeded(0), 400)[0]
    assert not any(sees(design, "copying-crop-ignored") for design in PEERS)


@every_design
@pytest.mark.parametrize("fault", ["copying-mask-top-left", "ring-crop-goes-ahead"])
def test_nothing_right_is_accused_and_the_calls_are_kept_to(design: Design, fault: str) -> None:
    accused, spent = peers.repeated(design, target(fault, right=True), seeded(1), CALLS)
    assert not accused
    assert CALLS <= spent < CALLS + 60  # one attempt more at most: 20 tokens by both ways are 42


def test_ours_accuses_nothing_right_and_keeps_to_the_calls() -> None:
    accused, spent = peers.searched(target("copying-mask-top-left", right=True), seeded(1), CALLS)
    assert not accused
    assert CALLS <= spent < CALLS + 300  # one case of the law that asks most


def test_a_schedule_is_clipped_to_the_room_there_is() -> None:
    assert clip_chunks([5, 3, 7, 9], 10) == [5, 3, 2]
    assert clip_chunks([5, 3], None) == [5, 3]


def test_a_run_of_two_faults_gives_a_table() -> None:
    names = ["copying-mask-top-left", "copying-crop-ignored"]
    found = peers.summary([peers.measure((name, 0), 30) for name in names], 30, 1)
    lines = pages.peers_table(found).splitlines()
    assert len(lines) == 2 + len(PEERS) + 2
    assert lines[-1].startswith("| `cachecheck` |")
    assert "2 faults" in pages.headline(found)
    assert pages.always(found, pages.best_peer(found)) == 1
    assert set(pages.missed_by_ours(found)) <= set(names)


def test_a_count_and_a_mean_share_stand_under_headings_of_their_own() -> None:
    designs = {"theirs": "one call", "ours": "all laws"}
    faults = [
        {"id": name, "append_only": name != "c", "theirs": 0, "ours": seeds, "alarms": None}
        for name, seeds in (("a", 2), ("b", 1), ("c", 1))
    ]
    found = {"calls": 9, "seeds": 2, "ours": "ours", "designs": designs, "faults": faults}
    head, _, *_, ours = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in pages.peers_table(found).splitlines()
    ]
    assert head[2:4] == ["faults seen on every seed", "mean share of seeds"]
    assert ours[2:6] == ["1 of 3", "67%", "1 of 2", "75%"]
    assert pages.missed_by_ours(found) == {"b": 1, "c": 1}


def test_the_committed_measurement_has_every_fault_and_its_table_renders() -> None:
    measured = pages.load()
    assert {one["id"] for one in measured["faults"]} == set(FAULTS), "run benchmarks.peers"
    assert measured["seeds"] >= 2
    assert len(pages.peers_table().splitlines()) == 3 + len(measured["designs"])
    assert pages.best_peer(measured) in pages.headline()
