"""Text that others wrote, made safe for a terminal."""


def printable(text: str) -> str:
    """Control characters as escapes: what others wrote may not steer the terminal.

    Blanks of other widths are shown as blanks. Half a character has no bytes to be written in, and
    is an escape too.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character.isspace() and character > "\x7f" and character not in "\x85\u2028\u2029":
        return " "
    return character.encode("unicode_escape").decode()
