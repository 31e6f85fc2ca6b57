"""From the manifests of one request to what they ask of each tenant, or all of their problems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from control_api.manifests.manifest import read_manifest
from control_api.manifests.plain_tree import node_of
from control_api.manifests.problems import ManifestErrors
from control_api.problems import ApiProblem, FieldProblem, sentence_of
from schemas.api.apply import ManifestIn
from schemas.manifest import Manifest, TargetSpec, TenantSpec
from schemas.printable import printable

_MEMBERS: Final = ("calendars", "targets", "triggers")


class Wishes(NamedTuple):
    """What all manifests ask, tenant by tenant.

    sources:  the manifest of each path, by its name
    """

    tenants: Mapping[str, TenantSpec]
    sources: Mapping[str, str]

    def field(self, path: str) -> str:
        """A path as a problem names it: after the manifest's name where there are several."""
        name = self.sources.get(path)
        return path if name is None else prefixed(name, path)


def read_manifests(
    manifests: Sequence[ManifestIn],
    *,
    now_us: int,
    allow_loopback: bool,
    takes: Callable[[str, str], bool],
) -> Wishes:
    """ApiProblem with the problems of every manifest, each at its path.

    takes:  whether a tenant's trigger of this name is wanted
    """
    is_one = len(manifests) == 1
    problems = list(_name_problems(manifests))
    left_out = 0
    read: list[Manifest] = []
    for manifest in manifests:
        root = node_of({"tenants": manifest.tenants})
        try:
            found = read_manifest(
                root,
                name=manifest.name,
                now_us=now_us,
                allow_loopback=allow_loopback,
                takes=takes,
            )
        except ManifestErrors as errors:
            problems += _told(errors, is_one=is_one)
            left_out += errors.left_out
        else:
            problems += _elsewhere(found, is_one=is_one)
            read.append(found)
    if not problems:
        problems += _repeated(read)
    if problems:
        raise refusal(problems, left_out=left_out)
    sources = {} if is_one else {path: each.name for each in read for path in _paths(each)}
    return Wishes(_joined(read), sources)


def refusal(
    problems: Sequence[FieldProblem], *, status: int = 422, left_out: int = 0
) -> ApiProblem:
    """All of them; the sentence names the first few."""
    detail = sentence_of([f"{each.field}: {each.detail}" for each in problems], left_out)
    code = "invalid" if status == 422 else "conflict"
    return ApiProblem(status, code, detail, fields=problems, left_out=left_out)


def prefixed(name: str, path: str) -> str:
    """How a path is told where there are several manifests."""
    return f"{name}:{path}"


def _name_problems(manifests: Sequence[ManifestIn]) -> Iterator[FieldProblem]:
    names = [manifest.name for manifest in manifests]
    for number, name in enumerate(names):
        if len(names) > 1 and (not name or name in names[:number]):
            detail = "give each of several manifests a name of its own"
            yield FieldProblem(f"manifests.{number}.name", detail)


def _told(errors: ManifestErrors, *, is_one: bool) -> list[FieldProblem]:
    return [
        FieldProblem(path if is_one else prefixed(errors.name, path), printable(each.message))
        for each in errors.problems
        for path in [each.shown_path]
    ]


def _elsewhere(manifest: Manifest, *, is_one: bool) -> Iterator[FieldProblem]:
    """This machine's variables and files are none of a caller's business."""
    for tenant_id, tenant in manifest.tenants.items():
        for name, target in tenant.targets.items():
            for key in ("secret_env", "secret_file"):
                if getattr(target, key) is not None:
                    path = f"tenants.{tenant_id}.targets.{name}.{key}"
                    detail = "is read where the file is: send what it holds as `secret`"
                    yield FieldProblem(path if is_one else prefixed(manifest.name, path), detail)


def _repeated(manifests: Sequence[Manifest]) -> Iterator[FieldProblem]:
    """What two manifests say of one thing must be the same: their order means nothing."""
    first: dict[str, tuple[str, object]] = {}
    for manifest in manifests:
        for path, part in _parts(manifest):
            name, known = first.setdefault(path, (manifest.name, part))
            if not _agree(known, part):
                detail = f"{name} says otherwise: make them the same, or keep it in one of them"
                yield FieldProblem(prefixed(manifest.name, path), detail)


def _agree(one: object, other: object) -> bool:
    """A target may leave its secret to another manifest."""
    if isinstance(one, TargetSpec) and isinstance(other, TargetSpec):
        return _secrets_joined(one, other) == _secrets_joined(other, one)
    return one == other


def _secrets_joined(one: TargetSpec, other: TargetSpec) -> TargetSpec:
    return one if one.secret is not None else one.model_copy(update={"secret": other.secret})


def _paths(manifest: Manifest) -> Iterator[str]:
    """Of the tenants, of their own keys and of their members."""
    yield from (f"tenants.{tenant_id}" for tenant_id in manifest.tenants)
    yield from (path for path, _ in _parts(manifest))


def _parts(manifest: Manifest) -> Iterator[tuple[str, object]]:
    for tenant_id, tenant in manifest.tenants.items():
        path = f"tenants.{tenant_id}"
        yield from ((f"{path}.{key}", value) for key, value in _own(tenant).items())
        for kind in _MEMBERS:
            members = getattr(tenant, kind).items()
            yield from ((f"{path}.{kind}.{name}", part) for name, part in members)


def _own(tenant: TenantSpec) -> dict[str, Any]:
    return tenant.model_dump(exclude=set(_MEMBERS), exclude_none=True)


def _joined(manifests: Sequence[Manifest]) -> dict[str, TenantSpec]:
    joined: dict[str, TenantSpec] = {}
    for manifest in manifests:
        for tenant_id, tenant in manifest.tenants.items():
            known = joined.get(tenant_id)
            joined[tenant_id] = tenant if known is None else _both(known, tenant)
    return joined


def _both(one: TenantSpec, other: TenantSpec) -> TenantSpec:
    members = {kind: {**getattr(one, kind), **getattr(other, kind)} for kind in _MEMBERS}
    for name, target in one.targets.items():
        members["targets"][name] = _secrets_joined(target, members["targets"][name])
    return one.model_copy(update=_own(other) | members)
