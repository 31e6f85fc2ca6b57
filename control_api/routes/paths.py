"""The path parameters: a name ends where an act begins, as in `/triggers/digest:pause`."""

from starlette.convertors import Convertor, register_url_convertor


class _WordConvertor(Convertor[str]):
    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("word", _WordConvertor())

TENANT = "/v1/tenants/{tenant:word}"
TRIGGER = TENANT + "/triggers/{name:word}"
FIRE = "/v1/fires/{fire_key:word}"
