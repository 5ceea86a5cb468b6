"""Runs and trends as one HTML page with pictures of lines that break at every boundary. Computes no number."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from ragassay.records.text import many
from ragassay.report import page
from ragassay.report.history import Point, RunLine, Series
from ragassay.report.words import class_name, visible

WIDTH, HEIGHT, LEFT, TOP, FLOOR = 720, 190, 40, 22, 150


def trend_page(lines: Sequence[RunLine], series: Sequence[Series], title: str) -> str:
    """The page; the same runs give the same bytes."""
    template = page.environment().get_template("trend.html.j2")
    return template.render(lines=lines, series=series, title=title, picture=picture, **page.frame())


def stretches(points: Sequence[Point]) -> list[list[tuple[int, Point]]]:
    """Points that may be joined: with a value, side by side, and with no boundary between them."""
    made: list[list[tuple[int, Point]]] = [[]]
    for place, point in enumerate(points):
        if point.boundary:
            made.append([])
        if point.estimate is None or point.estimate.value is None:
            made.append([])
        else:
            made[-1].append((place, point))
    return [one for one in made if one]


def picture(series: Series) -> Markup:
    """Values with their intervals over the runs; a dashed line and its words where runs cannot be compared."""
    values = [one.estimate.value for one in series.points if one.estimate and one.estimate.value is not None]
    top = max([1.0, *values])
    across = (WIDTH - LEFT - 20) / max(1, len(series.points) - 1)

    def x(place: int) -> float:
        return LEFT + 10 + place * across

    def y(value: float) -> float:
        return FLOOR - (FLOOR - TOP) * min(1.0, max(0.0, value / top))

    body = ""
    for value in (0.0, top / 2, top):
        body += f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}" opacity=".4"/>'
        body += f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
    for place, point in enumerate(series.points):
        if point.boundary:
            at = x(place) - across / 2
            body += (
                f'<line class="cut" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{FLOOR}" stroke-dasharray="4 3"/>'
            )
            body += f'<text x="{at:.1f}" y="{TOP - 10}" text-anchor="middle">{escape(", ".join(point.boundary))}</text>'
        if point.estimate is None or point.estimate.value is None:
            body += f'<text x="{x(place):.1f}" y="{FLOOR - 4}" text-anchor="middle">×</text>'
        body += f'<text x="{x(place):.1f}" y="{FLOOR + 18}" text-anchor="middle">{place + 1}</text>'
    for stretch in stretches(series.points):
        dots = [(x(place), y(point.estimate.value or 0.0), point) for place, point in stretch if point.estimate]
        if len(dots) > 1:
            path = " ".join(f"{one[0]:.1f},{one[1]:.1f}" for one in dots)
            body += f'<polyline class="way" points="{path}" fill="none"/>'
        for left, up, point in dots:
            inside = point.estimate.interval if point.estimate else None
            if inside is not None:
                ends = f'y1="{y(inside.low):.1f}" y2="{y(inside.high):.1f}"'
                body += f'<line class="whisk" x1="{left:.1f}" x2="{left:.1f}" {ends}/>'
            body += f'<circle class="dot" cx="{left:.1f}" cy="{up:.1f}" r="4"/>'
    label = f"{series.measure}, {class_name(series.class_)}, over {many(len(series.points), 'run')}"
    return Markup(  # noqa: S704  made here from numbers and escaped words
        f'<svg class="trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(visible(label))}">'
        f"{body}</svg>"
    )
