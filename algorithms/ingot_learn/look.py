"""What can be said of a dataset before training: sizes, warnings, a rough forecast. Nothing heavy is imported here."""

from . import data, split
from .errors import Refused

PICTURES = ("image-class", "image-classes", "detection", "segmentation")
# Seconds for one pass and accuracy by samples a class, measured on small public sets; a forecast, no promise.
QUALITY = {"text-class": [(3, 0.6), (10, 0.7), (30, 0.77), (100, 0.83), (300, 0.86)],
           "audio-class": [(3, 0.48), (10, 0.68), (30, 0.81), (100, 0.91)],
           "image-class": [(3, 0.55), (10, 0.72), (30, 0.8), (100, 0.85)]}


def _warning(id: str, en: str, zh: str, **more) -> dict:
    return {"id": id, "en": en, "zh": zh, **more}


def _few(dataset: data.Dataset, table: dict) -> list:
    strong = 10
    mild = 300 if dataset.type == "text-class" else 30
    thing, ding = ("shapes", "个标注") if dataset.type in data.SHAPED else ("samples", "个样本")
    out = []
    low = {label: n for label, n in table.items() if n < strong}
    if low:
        names = ", ".join(f"{label} ({n})" for label, n in list(low.items())[:10])
        out.append(_warning("very-few", f"fewer than {strong} {thing} of: {names}; the model will often be wrong about them",
                            f"以下标签少于 {strong} {ding}：{names}；模型在这些标签上会经常出错", labels=list(low)))
    some = {label: n for label, n in table.items() if strong <= n < mild}
    if some:
        names = ", ".join(f"{label} ({n})" for label, n in list(some.items())[:10])
        out.append(_warning("few", f"fewer than {mild} {thing} of: {names}; more would help", f"以下标签少于 {mild} {ding}：{names}；增加样本会有帮助", labels=list(some)))
    return out


def _forecast(dataset: data.Dataset, table: dict) -> "float | None":
    curve = QUALITY.get(dataset.type)
    if not curve or not table:
        return None
    least = sorted(table.values())[len(table) // 2]
    below = [quality for n, quality in curve if n <= least]
    return below[-1] if below else None


def plan(dataset: data.Dataset, parts: dict) -> dict:
    """Everything that is known before the first picture is read. Refuses what cannot be learned."""
    table = data.counts(dataset.labels, dataset.samples)
    if not dataset.samples:
        raise Refused("nothing", "no sample has an annotation that can be learned from", "没有可用于训练的已标注样本")
    if not dataset.labels:
        raise Refused("no-labels", "no label is left to be learned", "没有可学习的标签")
    if len(dataset.labels) < 2 and dataset.type not in data.SHAPED and not (dataset.many and any(not o.labels for o in dataset.samples)):
        raise Refused("one-class", f"all samples have the same label ({dataset.labels[0]}); a classifier needs at least two",
                      f"所有样本都是同一个标签（{dataset.labels[0]}）；分类至少需要两个标签")
    warnings = _few(dataset, table)
    if dataset.strange:
        warnings.append(_warning("unfit", f"{len(dataset.strange)} samples have annotations that do not fit {dataset.type} and are left out",
                                 f"{len(dataset.strange)} 个样本的标注与 {dataset.type} 不符，不会使用", files=dataset.strange[:100]))
    if not parts["test"]:
        warnings.append(_warning("no-test", "there is no test part: nobody will know how good the model is", "没有测试部分：无法知道模型的好坏"))
    biggest, smallest = max(table.values()), min(table.values())
    if smallest and biggest / smallest > 20:
        warnings.append(_warning("unbalanced", f"the most frequent label occurs {biggest // smallest} times as often as the rarest",
                                 f"最多的标签是最少的标签的 {biggest // smallest} 倍"))
    return {"type": dataset.type, "samples": len(dataset.samples), "unannotated": dataset.unannotated,
            "classes": [{"label": label, "count": n} for label, n in table.items()],
            "negatives": sum(1 for one in dataset.samples if not one.labels),
            "parts": {name: len(part) for name, part in parts.items()}, "several_labels": dataset.many,
            "quality": _forecast(dataset, table), "warnings": warnings}


def prepare(folder, params, former=None):
    """The dataset, its parts and its plan."""
    dataset = data.load(folder, params.leave_out, params.merge)
    parts = split.make(dataset.samples, params.test_share, params.seed, former)
    return dataset, parts, plan(dataset, parts)
