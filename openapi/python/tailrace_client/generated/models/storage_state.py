from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.commit_latency import CommitLatency


T = TypeVar("T", bound="StorageState")


@_attrs_define
class StorageState:
    """The data directory of the server.

    Example:
        {'data_bytes': 5200000, 'disk_free_bytes': 41000000000, 'journal_bytes': 310000, 'commits': 15200,
            'commits_behind': 0, 'checkpoints': 1, 'has_failed': False, 'commit_latency': {'commits': 1000, 'p50_ms': 0.41,
            'p99_ms': 1.93, 'max_ms': 4.2}}

    """

    data_bytes: int
    """ Size of the files in the data directory. """
    disk_free_bytes: int
    """ Free space on the disk. """
    journal_bytes: int
    """ Size of the journal since the last checkpoint, uncompressed. """
    commits: int
    """ Commits since the data directory was created. """
    commits_behind: int
    """ Commits that are not durable yet. """
    checkpoints: int
    """ Checkpoints since the start. """
    has_failed: bool
    """ Whether a commit failed. The server then refuses writes until it is restarted. """
    commit_latency: CommitLatency
    """ The durations of the last commits: from the start of the transaction to the end of its sync. """

    def to_dict(self) -> dict[str, Any]:
        data_bytes = self.data_bytes

        disk_free_bytes = self.disk_free_bytes

        journal_bytes = self.journal_bytes

        commits = self.commits

        commits_behind = self.commits_behind

        checkpoints = self.checkpoints

        has_failed = self.has_failed

        commit_latency = self.commit_latency.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "data_bytes": data_bytes,
                "disk_free_bytes": disk_free_bytes,
                "journal_bytes": journal_bytes,
                "commits": commits,
                "commits_behind": commits_behind,
                "checkpoints": checkpoints,
                "has_failed": has_failed,
                "commit_latency": commit_latency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.commit_latency import CommitLatency  # noqa: PLC0415

        d = dict(src_dict)
        data_bytes = d.pop("data_bytes")

        disk_free_bytes = d.pop("disk_free_bytes")

        journal_bytes = d.pop("journal_bytes")

        commits = d.pop("commits")

        commits_behind = d.pop("commits_behind")

        checkpoints = d.pop("checkpoints")

        has_failed = d.pop("has_failed")

        commit_latency = CommitLatency.from_dict(d.pop("commit_latency"))

        storage_state = cls(
            data_bytes=data_bytes,
            disk_free_bytes=disk_free_bytes,
            journal_bytes=journal_bytes,
            commits=commits,
            commits_behind=commits_behind,
            checkpoints=checkpoints,
            has_failed=has_failed,
            commit_latency=commit_latency,
        )

        return storage_state
