"""What every recipe ends with: a plain figure of its rows."""

# A plain figure of these numbers: pip install plotly
import plotly.graph_objects as go
from plotly.subplots import make_subplots

mark, panels, across, values, *down = FIGURE


def named(row, names):
    """The value of one column as it is, of several as words, of none as nothing."""
    found = [row[columns.index(name)] for name in names.split()]
    return found[0] if len(found) == 1 else " ".join(map(str, found))


shown = {}
for row in globals().get("plotted", rows):
    shown.setdefault(str(named(row, panels)), []).append(row)
if mark == "heatmap":
    figure = make_subplots(1, len(shown), subplot_titles=list(shown))
    for place, found in enumerate(shown.values(), 1):
        x, y, z = ([named(row, name) for row in found] for name in (across, *down, *values))
        figure.add_trace(go.Heatmap(x=x, y=y, z=z, coloraxis="coloraxis"), row=1, col=place)
    figure.update_layout(xaxis_title=across, yaxis_title=down[0])
    figure.update_layout(coloraxis_colorbar_title=values[0])
else:
    trace = {"bars": go.Bar, "lines": go.Scatter, "points": go.Scatter}[mark]
    style = {"mode": "markers" if mark == "points" else "lines"} if mark != "bars" else {}
    figure = go.Figure(layout={"xaxis_title": across, "yaxis_title": ", ".join(values)})
    for panel, found in shown.items():
        for value in values:
            name = " ".join(filter(None, [panel, value if len(values) > 1 else ""]))
            x, y = ([named(row, one) for row in found] for one in (across, value))
            figure.add_trace(trace(x=x, y=y, name=name, **style))
