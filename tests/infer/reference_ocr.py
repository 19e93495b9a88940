"""Text in pictures, for reference.py: lines out of the detector's map, cut out, turned and read."""

import math

import numpy as np
import reference


def places(above):
    """Lists of cells that touch, also by corners, in the order of their first cell."""
    seen, (h, w) = np.zeros_like(above), above.shape
    for start in np.argwhere(above):
        if seen[tuple(start)]:
            continue
        stack, found = [tuple(start)], []
        seen[tuple(start)] = True
        while stack:
            y, x = stack.pop()
            found.append((x, y))
            for j in range(max(y - 1, 0), min(y + 2, h)):
                for i in range(max(x - 1, 0), min(x + 2, w)):
                    if above[j, i] and not seen[j, i]:
                        seen[j, i] = True
                        stack.append((j, i))
        yield found


def hull(points):
    """Clockwise on a picture, from the leftmost; without points on its sides."""
    points = sorted(set(points))

    def half(points):
        out = []
        for p in points:
            while len(out) > 1 and ((out[-1][0] - out[-2][0]) * (p[1] - out[-2][1]) -
                                    (out[-1][1] - out[-2][1]) * (p[0] - out[-2][0])) <= 0:
                out.pop()
            out.append(p)
        return out

    return half(points)[:-1] + half(points[::-1])[:-1]


def rectangle(points):
    """The smallest: middle, direction, sides."""
    p, best = np.array(hull(points), np.float64), None
    for a, b in zip(p, np.roll(p, -1, axis=0)):
        d = (b - a) / np.hypot(*(b - a))
        u, v = p @ d, p @ np.array([-d[1], d[0]])
        w, h = np.ptp(u), np.ptp(v)
        if best is None or w * h < best[2] * best[3] - 1e-9:
            mu, mv = (u.min() + u.max()) / 2, (v.min() + v.max()) / 2
            best = (mu * d - mv * np.array([d[1], -d[0]]), d, w, h)
    return best


def corners(middle, d, w, h, grow):
    while not (d[0] > 0 and abs(d[0]) >= abs(d[1]) - 1e-9):
        d, w, h = np.array([-d[1], d[0]]), h, w
    across = np.array([-d[1], d[0]])
    a, b = w / 2 + grow, h / 2 + grow
    return np.array([middle + i * a * d + k * b * across for i, k in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def lines(model, pixels):
    part = model.parts[0]
    spec = model.inputs[part]
    value, m = reference.picture(spec, pixels)
    out, v = model.run(part, {spec["name"]: value})["text-map"]
    v = reference.grid(v, out)[0]
    found = []
    for place in places(v > model.threshold("text")):
        score = np.mean([v[y, x] for x, y in place])
        edge = [(x + i, y + k) for x, y in place for i in (0, 1) for k in (0, 1)]
        middle, d, w, h = rectangle(edge)
        if score >= model.threshold("score") and min(w, h) >= 3:
            found.append(corners(middle, d, w, h, w * h * out["unclip"] / (2 * (w + h))))
    found.sort(key=lambda c: ((c[0, 1] + c[2, 1]) / 2, c[0, 0]))
    for i in range(1, len(found)):
        for k in range(i, 0, -1):
            p, q = found[k - 1], found[k]
            line = np.hypot(*(p[3] - p[0])) / 2
            if abs((q[0, 1] + q[2, 1]) / 2 - (p[0, 1] + p[2, 1]) / 2) >= line or q[0, 0] >= p[0, 0]:
                break
            found[k - 1], found[k] = q, p
    for c in found:
        back = [m.back(i, c[:, i] * m.input[i] / v.shape[1 - i]) for i in (0, 1)]
        yield np.stack([np.clip(b, 0, side) for b, side in zip(back, m.picture)], 1)


def cut(pixels, c):
    o, u, v = c[0], c[1] - c[0], c[3] - c[0]
    if np.hypot(*v) >= 1.5 * np.hypot(*u):
        o, u, v = o + u, v, -u
    w, h = (max(math.floor(np.hypot(*side) + 0.5), 1) for side in (u, v))
    a, b = (np.arange(w) + 0.5) / w, (np.arange(h) + 0.5) / h
    at = o + a[None, :, None] * u + b[:, None, None] * v - 0.5
    x, y = np.clip(at[..., 0], 0, pixels.shape[1] - 1), np.clip(at[..., 1], 0, pixels.shape[0] - 1)
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    x1, y1 = np.minimum(x0 + 1, pixels.shape[1] - 1), np.minimum(y0 + 1, pixels.shape[0] - 1)
    sx, sy = (x - x0)[..., None], (y - y0)[..., None]
    p = pixels.astype(np.float64)
    got = (p[y0, x0] * (1 - sx) + p[y0, x1] * sx) * (1 - sy) + (p[y1, x0] * (1 - sx) + p[y1, x1] * sx) * sy
    return np.floor(got + 0.5).astype(np.uint8)


def read(model, out, v):
    characters = (model.folder / out["characters"]).read_text().splitlines() + ([" "] if out["space"] else [])
    characters.insert(out["blank"], None)
    scores = reference.activate(v[0], out["activation"])
    best = scores.argmax(axis=1)
    kept = [i for i, b in enumerate(best) if b != out["blank"] and (i == 0 or b != best[i - 1])]
    return "".join(characters[best[i]] for i in kept), np.mean([scores[i, best[i]] for i in kept]) if kept else 0


def predict(model, pixels):
    shapes = []
    _, turner, reader = model.parts
    for c in lines(model, pixels):
        line = cut(pixels, c)
        value, _ = reference.picture(model.inputs[turner], line)
        out, v = model.run(turner, {"x": value})["softmax"]
        if reference.softmax(v.ravel().astype(np.float64))[1] > 0.9:
            line = line[::-1, ::-1]
        value, _ = reference.picture(model.inputs[reader], line)
        out, v = model.run(reader, {"x": value})["ctc"]
        text, score = read(model, out, v)
        if text:
            shapes.append({"type": "polygon", "text": text, "score": score, "rings": [c.ravel()]})
    return {"shapes": shapes}
