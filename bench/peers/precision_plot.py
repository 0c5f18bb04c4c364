"""Draws the work-precision diagrams as one SVG: error over cost, both logarithmic, a panel a scene.

Plain SVG of lines and text, so that the page needs no font and changes are visible in a diff.
"""
import math

WIDTH, PANEL_WIDTH, PANEL_HEIGHT = 1080, 272, 236
LEFT, TOP, GAP_X, GAP_Y = 74, 46, 66, 66
X_RANGE = (-6, 0)  # decades of s/s
INK, GRID, MINOR = "#222222", "#d5d5d5", "#eeeeee"

# name of the cell, label, place in the legend (column, row), color, marker, dashed
STYLES = [
    ("compliant", "Mayfly, one robot, double", (0, 0), "#1f5fbf", "disc", False),
    ("compliant, float batch", "Mayfly, each of 1,024, float", (0, 1), "#1f5fbf", "ring", True),
    ("hard", "hard contacts, one robot, double", (1, 0), "#12805c", "square", False),
    ("hard, float batch", "hard contacts, each of 1,024, float", (1, 1), "#12805c", "frame", True),
    ("MuJoCo Euler", "MuJoCo Euler", (2, 0), "#d9730d", "triangle", False),
    ("MuJoCo RK4", "MuJoCo RK4", (2, 1), "#b3203a", "diamond", False),
    ("implicit", "", None, "#1f5fbf", "disc", False),
    ("implicit, float batch", "", None, "#1f5fbf", "ring", True),
    ("fixed", "softness of 10 ms, one robot (stack only)", (2, 2), "#1799b5", "disc", False),
    ("RK4", "Mayfly RK4, one robot, double", (0, 2), "#6a3fa0", "square", False),
    ("RK4, float batch", "Mayfly RK4, each of 1,024, float", (1, 2), "#6a3fa0", "frame", True),
]
COLUMNS = (74, 400, 740)


def marker(kind, x, y, color):
    fill = "white" if kind in ("ring", "frame") else color
    paint = f'fill="{fill}" stroke="{color}" stroke-width="1.4"'
    if kind in ("disc", "ring"):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" {paint}/>'
    if kind in ("square", "frame"):
        return f'<rect x="{x - 3.1:.1f}" y="{y - 3.1:.1f}" width="6.2" height="6.2" {paint}/>'
    ends = {"triangle": [(0, -4.2), (3.9, 3), (-3.9, 3)],
            "diamond": [(0, -4.4), (4, 0), (0, 4.4), (-4, 0)]}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in ends)
    return f'<polygon points="{points}" {paint}/>'


def text(x, y, words, size=12, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{INK}"{extra}>{words}</text>')


def power(exponent):
    sign = "−" if exponent < 0 else ""
    return f'10<tspan dy="-5" font-size="9">{sign}{abs(exponent)}</tspan>'


class Panel:
    def __init__(self, left, top, y_range):
        self.left, self.top, self.y_range = left, top, y_range

    def x(self, value):
        low, high = X_RANGE
        return self.left + (math.log10(value) - low) / (high - low) * PANEL_WIDTH

    def y(self, value):
        low, high = self.y_range
        return self.top + (high - math.log10(value)) / (high - low) * PANEL_HEIGHT

    def grid(self):
        out = []
        right, bottom = self.left + PANEL_WIDTH, self.top + PANEL_HEIGHT
        for decade in range(*X_RANGE):
            for digit in range(2, 10):
                x = self.x(digit * 10.0 ** decade)
                out.append(f'<path d="M{x:.1f} {self.top}V{bottom}" stroke="{MINOR}"/>')
        stride = 1 if self.y_range[1] - self.y_range[0] <= 6 else 2
        for decade in range(X_RANGE[0], X_RANGE[1] + 1):
            x = self.x(10.0 ** decade)
            out.append(f'<path d="M{x:.1f} {self.top}V{bottom}" stroke="{GRID}"/>')
            out.append(text(x, bottom + 18, power(decade), 12, "middle"))
        for decade in range(self.y_range[0], self.y_range[1] + 1):
            y = self.y(10.0 ** decade)
            out.append(f'<path d="M{self.left} {y:.1f}H{right}" stroke="{GRID}"/>')
            if (decade - self.y_range[1]) % stride == 0:
                out.append(text(self.left - 7, y + 4, power(decade), 12, "end"))
        out.append(f'<rect x="{self.left}" y="{self.top}" width="{PANEL_WIDTH}" '
                   f'height="{PANEL_HEIGHT}" fill="none" stroke="{INK}"/>')
        return out

    def curve(self, places, color, kind, dashed):
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        path = "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in places)
        out = [f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.6"{dash}/>']
        return out + [marker(kind, self.x(x), self.y(y), color) for x, y in places]


def draw_scene(panel, scene):
    out = panel.grid()
    out.append(text(panel.left, panel.top - 9, scene["title"], 14, "start",
                    ' font-weight="bold"'))
    for name, _, _, color, kind, dashed in STYLES:
        cells = [cells[name] for cells in scene["steps"].values() if name in cells]
        places = [(cell["cost"], cell["error"]) for cell in cells if cell["good"]]
        if places:
            out += panel.curve(places, color, kind, dashed)
    return out


def decades(scene):
    errors = [cell["error"] for cells in scene["steps"].values() for name, cell in cells.items()
              if cell["good"] and name in [style[0] for style in STYLES]]
    return math.floor(math.log10(min(errors))), math.ceil(math.log10(max(errors)))


def legend(top):
    out = []
    for _, label, place, color, kind, dashed in STYLES:
        if place is None:
            continue
        x, y = COLUMNS[place[0]], top + place[1] * 22
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        out.append(f'<path d="M{x} {y}h30" stroke="{color}" stroke-width="1.6"{dash}/>')
        out.append(marker(kind, x + 15, y, color))
        out.append(text(x + 38, y + 4, label, 13))
    out.append(text(COLUMNS[0], top + 70, "markers from left to right: steps of 16, 8, 4, 2, 1, "
                    "0.5 ms", 12))
    return out


def draw(numbers):
    """The whole picture; `numbers` as precision.py writes them."""
    body = []
    scenes = list(numbers["scenes"].values())
    for i, scene in enumerate(scenes):
        panel = Panel(LEFT + (i % 3) * (PANEL_WIDTH + GAP_X),
                      TOP + (i // 3) * (PANEL_HEIGHT + GAP_Y), decades(scene))
        body += draw_scene(panel, scene)
    bottom = TOP + 2 * PANEL_HEIGHT + GAP_Y
    middle = LEFT + (3 * PANEL_WIDTH + 2 * GAP_X) / 2
    body.append(text(middle, bottom + 42, "cost: processor time of one core per simulated second "
                     "of one robot [s/s]", 14, "middle"))
    height = (TOP + bottom) / 2
    body.append(text(20, height, "error: rms distance of all bodies from the run at 5 µs [m]", 14,
                     "middle", f' transform="rotate(-90 20 {height:.0f})"'))
    body += legend(bottom + 74)
    total = bottom + 74 + 2 * 22 + 36
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" '
            f'width="{WIDTH}" height="{total}" '
            'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">\n'
            '<title>Error over cost of six scenes, Mayfly and MuJoCo</title>\n'
            f'<rect width="{WIDTH}" height="{total}" fill="white"/>\n' + "\n".join(body) +
            "\n</svg>\n")
