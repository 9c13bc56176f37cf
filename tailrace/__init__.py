"""The package that is imported and installed: `tailrace.core`, `tailrace.api` and `tailrace.app`.

In the repository, its members are links to the folders at the top. In a wheel, they are those folders. The
package runs no code when it is imported, so importing one part never loads another. `tailrace.open` and
`tailrace.open_async` load `tailrace.library` when a program first uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["open", "open_async"]

if TYPE_CHECKING:
    from tailrace.library import open, open_async  # noqa: A004 - `tailrace.open`, as `gzip.open`
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from tailrace import library  # noqa: PLC0415 - importing the package loads no part

        return getattr(library, name)
