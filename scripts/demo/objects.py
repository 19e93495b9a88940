"""Which files of the emoji package are drawn, and what they are called."""

#: Of the pictures with boxes.
FRUIT = {
    "apple": ("1f34e", "1f34f"),
    "banana": ("1f34c",),
    "lemon": ("1f34b",),
    "orange": ("1f34a",),
    "pineapple": ("1f34d",),
    "strawberry": ("1f353",),
}
COLOURS = {"apple": "#d4380d", "banana": "#d4b106", "lemon": "#a0d911", "orange": "#fa8c16", "pineapple": "#ad6800", "strawberry": "#eb2f96"}

#: Of single things, by the class of ImageNet: the built-in classifier finds some of them always, some now and then.
THINGS = {
    "abacus": ("1f9ee",),
    "accordion": ("1fa97",),
    "bucket": ("1faa3",),
    "candle": ("1f56f-fe0f",),
    "cup": ("2615",),
    "hourglass": ("231b",),
    "joystick": ("1f579-fe0f",),
    "laptop": ("1f4bb",),
    "lipstick": ("1f484",),
    "soccer ball": ("26bd",),
    "teapot": ("1fad6",),
    "umbrella": ("2602-fe0f", "2614"),
    "volleyball": ("1f3d0",),
}


def files() -> list[str]:
    """Of the package."""
    names = sorted({name for group in (FRUIT, THINGS) for several in group.values() for name in several})
    return ["package.json"] + [f"assets/{name}.webp" for name in names]
