"""Applying manifests in this process, as whoever runs it: what `up` does with its files."""

from collections.abc import Sequence
from dataclasses import replace

from control_api.call import Call
from control_api.host_checks import HostChecks
from control_api.operations.apply import apply_manifests
from control_api.problems import ApiProblem
from control_api.services import Services
from ports.authenticator import Principal
from ports.principals import GrantKind
from punctual.credentials import local_principal
from punctual.manifest_files import ManifestFile, ManifestsRefused, problem_lines
from schemas.api.apply import ApplyIn, PlanEntry

__all__ = ["LocalApply", "ManifestsRefused"]


class LocalApply:
    """The same operation as the API's, with every grant: the folder is this user's own."""

    def __init__(self, services: Services) -> None:
        everything = frozenset((kind, None) for kind in GrantKind)
        principal = Principal(principal_id=local_principal(), grants=everything)
        # Its turns are its own: callers of the API cannot keep a start from asking hosts.
        services = replace(services, host_checks=HostChecks())
        self._call = Call(services=services, principal=principal)

    def __call__(self, files: Sequence[ManifestFile], *, allow_targets: bool) -> list[PlanEntry]:
        """What became of each subject. ManifestsRefused with every problem; PortError."""
        if not files:
            return []
        has_problems = any(file.problems for file in files)
        body = ApplyIn(
            manifests=[file.manifest() for file in files],
            allow_targets=allow_targets,
            dry_run=has_problems,  # to learn of the other problems too
        )
        fields: dict[str, str] = {}
        entries: list[PlanEntry] = []
        try:
            # Whoever runs the service may hold it up: a file stays one transaction, however large.
            entries = apply_manifests(self._call, body, changes_max=None).body.entries
        except ApiProblem as problem:
            fields = dict(problem.fields)
            if not fields:
                raise ManifestsRefused(problem.detail) from problem
        if has_problems or fields:
            raise ManifestsRefused("\n".join(problem_lines(files, fields)))
        return entries
