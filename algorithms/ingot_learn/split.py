"""Which samples are trained on, chosen by, and tested with. The same samples and seed give the same parts."""

import hashlib
import json
from pathlib import Path

FEWEST = 10  # with fewer annotated samples there is no test part
VAL_SHARE = 0.15  # of what is not test


def _order(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _take(samples: list, share: float, seed: int, salt: str) -> set:
    """Files of about `share` of the samples, every rarest label with its share; a label's only sample stays."""
    total = {}
    for one in samples:
        for label in one.labels or ("",):
            total[label] = total.get(label, 0) + 1
    groups = {}
    for one in samples:  # a sample counts for its rarest label
        groups.setdefault(min(one.labels or ("",), key=lambda label: (total[label], label)), []).append(one.file)
    ranked = []
    for files in groups.values():
        files.sort(key=lambda name: _order(seed, salt + name))
        # Positions within the group, spread evenly: a prefix of the merged list is stratified.
        ranked += [((i + 0.5) / len(files), _order(seed, name), name) for i, name in enumerate(files) if len(files) > 1]
    ranked.sort()
    return {name for _, _, name in ranked[:round(len(samples) * share)]}


def make(samples: list, share: float, seed: int, former: "dict | None" = None) -> dict:
    """{"train": [...], "val": [...], "test": [...]} of samples. Parts that samples already have stay; `former` is an
    earlier split of the same training, which a resumed one keeps."""
    known = {name: part for part in ("train", "val", "test") for name in (former or {}).get(part, [])}  # val after train: it is in both
    part = {one.file: known.get(one.file) or one.split for one in samples}
    if len(samples) < FEWEST:
        return {"train": samples, "val": [], "test": []}
    loose = [one for one in samples if part[one.file] not in ("train", "val", "test")]
    if not any(p == "test" for p in part.values()) and share > 0:
        # Everything may have been called "train" by the import: then the test part is taken from that.
        chosen = _take(loose or samples, share, seed, "test")
        part.update(dict.fromkeys(chosen, "test"))
    rest = [one for one in samples if part[one.file] not in ("val", "test")]
    if not any(p == "val" for p in part.values()) and len(rest) >= 2 * FEWEST:
        part.update(dict.fromkeys(_take(rest, VAL_SHARE, seed, "val"), "val"))
    out = {"train": [], "val": [], "test": []}
    for one in samples:
        out[part[one.file] if part[one.file] in out else "train"].append(one)
    if not out["train"]:
        out["train"], out["val"] = out["val"], []
    return out


def former(*folders: Path) -> "dict | None":
    for folder in folders:
        try:
            return json.loads((folder / "split.json").read_text())
        except (OSError, ValueError):
            continue
    return None


def write(path: Path, parts: dict, seed: int) -> None:
    """What was never tested on is "train"; "val" says which of it chose the model."""
    text = {"train": [o.file for o in parts["train"] + parts["val"]], "test": [o.file for o in parts["test"]],
            "val": [o.file for o in parts["val"]], "seed": seed}
    path.write_text(json.dumps(text, ensure_ascii=False, indent=1) + "\n")
