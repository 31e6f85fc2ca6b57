"""Text that others wrote, made safe for a terminal."""


def printable(text: str) -> str:
    """Without control characters: what others wrote may not steer the terminal."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else " " if each.isspace() else "?" for each in text)
