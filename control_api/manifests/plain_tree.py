"""A tree of JSON values as the reader of manifests takes it: with marks that keep the order."""

from collections.abc import Iterator
from itertools import count

from control_api.manifests.problems import Mark
from control_api.manifests.yaml_tree import Node


def node_of(value: object) -> Node:
    """The tree of a parsed JSON value, whose depth its reader has bounded.

    JSON has no lines here: each part's mark is its place in the order of the text.
    """
    return _node(value, count(1))


def _node(value: object, places: Iterator[int]) -> Node:
    mark = Mark(next(places), 1)
    if isinstance(value, dict):
        node = Node(mark, {})
        members = {}
        for key, each in value.items():
            node.keys[key] = Mark(next(places), 1)
            members[key] = _node(each, places)
        node.value = members
        return node
    if isinstance(value, list):
        return Node(mark, [_node(each, places) for each in value])
    if value is None or isinstance(value, str | int | float | bool):
        return Node(mark, value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
