"""The capitals are where they are, and the demo prints what it promises, with the real kernel."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

demo = bench_module("demo")
CAPITALS = demo.capitals()
AT = {row.name: row for row in CAPITALS}


def distances():
    lat, lon = np.radians([row.latitude for row in CAPITALS]), np.radians([row.longitude for row in CAPITALS])
    return demo.haversine(lat[:, None], lon[:, None], lat[None, :], lon[None, :])


def pair(first, second):
    names = [row.name for row in CAPITALS]
    return distances()[names.index(first), names.index(second)]


# ---- the facts ---------------------------------------------------------------------------------------------------


def test_one_capital_for_each_member_and_observer_state():
    assert len(CAPITALS) == 195
    assert len({row.country for row in CAPITALS}) == 195
    assert len(AT) == 195


def test_coordinates_are_degrees_of_two_to_four_decimals():
    text = (demo.Path(demo.__file__).parent / "data" / "capitals.csv").read_text(encoding="utf-8")
    assert text.startswith("country,capital,latitude,longitude\n")
    assert all(re.search(r",-?\d{1,2}\.\d{2,4},-?\d{1,3}\.\d{2,4}$", line) for line in text.splitlines()[1:])
    assert all(abs(row.latitude) < 65 and abs(row.longitude) < 180 for row in CAPITALS)


@pytest.mark.parametrize(
    ("name", "north", "east"),
    [
        ("London", True, False),
        ("Tokyo", True, True),
        ("Canberra", False, True),
        ("Brasília", False, False),
        ("Quito", False, False),
        ("Kampala", True, True),
        ("Nairobi", False, True),
        ("Apia", False, False),
        ("Suva", False, True),
        ("Accra", True, False),
        ("Lomé", True, True),
    ],
)
def test_hemispheres(name, north, east):
    assert (AT[name].latitude > 0, AT[name].longitude > 0) == (north, east)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ("Vatican City", "Rome", 2, 6),
        ("Kinshasa", "Brazzaville", 4, 12),
        ("Vienna", "Bratislava", 50, 60),
        ("Tallinn", "Helsinki", 79, 85),
        ("Buenos Aires", "Montevideo", 195, 215),
        ("London", "Paris", 335, 350),
        ("New Delhi", "Islamabad", 675, 700),
        ("Washington", "Ottawa", 720, 745),
        ("Tokyo", "Seoul", 1140, 1170),
        ("Wellington", "Canberra", 2300, 2350),
        ("Wellington", "Madrid", 19800, 19900),
    ],
)
def test_known_distances(first, second, low, high):
    assert low < pair(first, second) < high


def test_no_capital_is_far_from_all_others():
    away = distances()
    np.fill_diagonal(away, np.inf)
    nearest = away.min(axis=1)
    # A wrong sign would leave a capital in an ocean, farther away than Australia is from New Zealand.
    assert {CAPITALS[int(i)].name for i in np.argsort(nearest)[-2:]} == {"Canberra", "Wellington"}
    assert nearest.min() > 2


# ---- the formula -------------------------------------------------------------------------------------------------


def test_haversine_is_the_distance_on_the_sphere():
    quarter = math.pi / 2 * demo.EARTH_RADIUS_KM
    assert demo.haversine(0.0, 0.0, 0.0, math.pi / 2) == pytest.approx(quarter)
    assert demo.haversine(-math.pi / 2, 1.0, 0.0, 2.0) == pytest.approx(quarter)
    assert demo.haversine(0.3, 0.4, -0.3, 0.4 - math.pi) == pytest.approx(2 * quarter)
    assert demo.haversine(0.7, 0.2, 0.7, 0.2) == 0.0


def test_rounding_bound_grows_towards_the_antipodes_and_stays_finite():
    kilometres = np.array([0.0, 1.0, 10000.0, 19900.0, math.pi * demo.EARTH_RADIUS_KM])
    bound = demo.rounding_bound(kilometres)
    assert bound[0] == 0
    assert (np.diff(bound) > 0).all()
    assert bound[2] < 1e-9
    assert bound[4] < 1e-2


def test_numpy_itself_is_within_half_the_bound_of_exact_values():
    import mpmath

    mpmath.mp.prec = 120
    found = distances()
    bound = demo.rounding_bound(found)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, len(CAPITALS), (300, 2)):
        if i == j:
            continue
        radians = [np.radians([CAPITALS[k].latitude, CAPITALS[k].longitude]) for k in (i, j)]
        (lat1, lon1), (lat2, lon2) = [[mpmath.mpf(float(x)) for x in each] for each in radians]
        cosines = mpmath.cos(lat1) * mpmath.cos(lat2)
        h = mpmath.sin((lat2 - lat1) / 2) ** 2 + cosines * mpmath.sin((lon2 - lon1) / 2) ** 2
        exact = 2 * mpmath.mpf(demo.EARTH_RADIUS_KM) * mpmath.asin(mpmath.sqrt(h))
        assert abs(mpmath.mpf(float(found[i, j])) - exact) <= bound[i, j] / 2


# ---- what it prints ----------------------------------------------------------------------------------------------

SOURCE = """\
static void helper(void)
{
    for (int64_t i = 0; i < n; i++) {
        total += i;
    }
}
int run(void)
{
    for (int64_t i0 = 0; i0 < d0; i0++) {
        const double outer = 1.0;
        for (int64_t i1 = 0; i1 < d1; i1++) {
            const double t0 = a[i1];
            if (t0 > 0) {
                count++;
            }
            const double t1 = t0 + 1.0;
            r[i1] = t1;
        }
    }
}
"""


def test_inner_loop_is_the_innermost_one_that_computes():
    lines = demo.inner_loop(SOURCE)
    assert lines[0] == "for (int64_t i1 = 0; i1 < d1; i1++) {"
    assert lines[1] == "    const double t0 = a[i1];"
    assert lines[-1] == "}"
    assert len(lines) == 8


def test_source_without_a_loop_has_no_inner_loop():
    assert demo.inner_loop("int x;") == []


@pytest.fixture(scope="module")
def printed():
    stream = io.StringIO()
    assert demo.run(stream) == 0
    return stream.getvalue()


def test_demo_fits_a_terminal(printed):
    assert all(len(line) <= 100 for line in printed.splitlines())


def test_demo_shows_the_pairs(printed):
    assert "195 capitals" in printed
    assert re.search(r"nearest +(Rome - Vatican City|Vatican City - Rome) +3\.\d km", printed)
    assert re.search(r"(Brazzaville - Kinshasa|Kinshasa - Brazzaville) +7\.\d km", printed)
    assert re.search(r"farthest +(Madrid - Wellington|Wellington - Madrid) +19,8\d\d\.\d km", printed)


def test_demo_shows_check_times_compilation_and_c(printed):
    assert re.search(r"^check +largest difference \S+ km, \S+ ULP; every pair within its bound", printed, re.MULTILINE)
    assert re.search(r"^times +NumPy [\d.]+ \ws, bcastgen [\d.]+ \ws, ratio [\d.]+ ", printed, re.MULTILINE)
    assert re.search(r"^compile +first call [\d.]+ \w?s, .*kernel\.compilations = [01]", printed, re.MULTILINE)
    assert re.search(r"again, as a new kernel: [\d.]+ \w?s, found on disk \(kernel\.compilations = 0\)", printed)
    c = printed[printed.index("The inner loop") :]
    assert "for (" in c
    assert re.search(r"const double t\d+ = ", c)


def test_a_kernel_that_is_off_ends_in_1_and_says_by_how_much(monkeypatch):
    class Wrong:
        compilations = 1
        source = ""

        def __call__(self, *operands):
            result = demo.haversine(*operands)
            result[3, 5] += 1e-3
            return result

    monkeypatch.setattr("bcastgen.jit", lambda function: Wrong())
    stream = io.StringIO()
    assert demo.run(stream) == 1
    assert "FAILED: largest difference 1.0e-03 km" in stream.getvalue()
    assert "pair [3, 5] is off by 1.0e-03 km, allowed" in stream.getvalue()


def test_a_kernel_of_another_dtype_ends_in_1(monkeypatch):
    class Narrow:
        compilations = 1
        source = ""

        def __call__(self, *operands):
            return demo.haversine(*operands).astype(np.float32)

    monkeypatch.setattr("bcastgen.jit", lambda function: Narrow())
    stream = io.StringIO()
    assert demo.run(stream) == 1
    assert "FAILED: the kernel gave float32[195, 195], NumPy float64[195, 195]" in stream.getvalue()


def test_where_nothing_is_compiled_the_demo_says_that_numpy_computes(monkeypatch):
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    stream = io.StringIO()
    assert demo.run(stream) == 0
    told = " ".join(stream.getvalue().split())
    assert told.endswith("NumPy has computed all of this: BCASTGEN_DISABLE is set; unset it to compile kernels")
    assert "found on disk" not in told and "lines of C" not in told and "loop nest" not in told
