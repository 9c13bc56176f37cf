from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.xadd_body_encoding import XaddBodyEncoding, check_xadd_body_encoding
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.trimming import Trimming
    from ..models.xadd_body_fields import XaddBodyFields


T = TypeVar("T", bound="XaddBody")


@_attrs_define
class XaddBody:
    """One entry to append.

    Example:
        {'fields': {'rider': 'Castilla', 'speed': '29.9', 'position': '1', 'location_id': '2'}}

    """

    fields: XaddBodyFields | Unset = UNSET
    """ Names and values, in this order. Each name must be unique; use `pairs` to repeat a name. """
    pairs: list[list[str]] | Unset = UNSET
    """ Names and values as `[name, value]` pairs; names may repeat. """
    encoding: XaddBodyEncoding | Unset = UNSET
    """ `base64`: all names and values of this entry are base64, so they can hold any bytes. """
    id: str | Unset = UNSET
    """ The id: `ms-seq`, `ms`, or `ms-*`. With `*` (the default) the server chooses the id. """
    trim: Trimming | Unset = UNSET
    """ Which entries a trim removes: all but the newest `max_length`, or those below `min_id`. Give exactly
    one of the two. """
    nomkstream: bool | Unset = False
    """ If the stream does not exist, fail with 404 instead of creating it. """
    if_last_id: str | Unset = UNSET
    """ Append only if this is the stream's last id (`0-0` if there is no stream); otherwise fail with 412. """
    delay_ms: int | Unset = UNSET
    """ Append later: after this many milliseconds, a year (`delay_ms_max`) at most. Until then the server stores
    the entry, and no reader sees it. It gets its id when it is appended. """
    deliver_at_ms: int | Unset = UNSET
    """ Append later: at this time, in Unix milliseconds. A time in the past is due at once. Not together with
    `delay_ms`. """

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] | Unset = UNSET
        if not isinstance(self.fields, Unset):
            fields = self.fields.to_dict()

        pairs: list[list[str]] | Unset = UNSET
        if not isinstance(self.pairs, Unset):
            pairs = []
            for pairs_item_data in self.pairs:
                pairs_item = pairs_item_data

                pairs.append(pairs_item)

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        id = self.id

        trim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.trim, Unset):
            trim = self.trim.to_dict()

        nomkstream = self.nomkstream

        if_last_id = self.if_last_id

        delay_ms = self.delay_ms

        deliver_at_ms = self.deliver_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if fields is not UNSET:
            field_dict["fields"] = fields
        if pairs is not UNSET:
            field_dict["pairs"] = pairs
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if id is not UNSET:
            field_dict["id"] = id
        if trim is not UNSET:
            field_dict["trim"] = trim
        if nomkstream is not UNSET:
            field_dict["nomkstream"] = nomkstream
        if if_last_id is not UNSET:
            field_dict["if_last_id"] = if_last_id
        if delay_ms is not UNSET:
            field_dict["delay_ms"] = delay_ms
        if deliver_at_ms is not UNSET:
            field_dict["deliver_at_ms"] = deliver_at_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.trimming import Trimming  # noqa: PLC0415
        from ..models.xadd_body_fields import XaddBodyFields  # noqa: PLC0415

        d = dict(src_dict)
        _fields = d.pop("fields", UNSET)
        fields: XaddBodyFields | Unset
        if isinstance(_fields, Unset):
            fields = UNSET
        else:
            fields = XaddBodyFields.from_dict(_fields)

        _pairs = d.pop("pairs", UNSET)
        pairs: list[list[str]] | Unset = UNSET
        if _pairs is not UNSET:
            pairs = []
            for pairs_item_data in _pairs:
                pairs_item = cast(list[str], pairs_item_data)

                pairs.append(pairs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: XaddBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_xadd_body_encoding(_encoding)

        id = d.pop("id", UNSET)

        _trim = d.pop("trim", UNSET)
        trim: Trimming | Unset
        if isinstance(_trim, Unset):
            trim = UNSET
        else:
            trim = Trimming.from_dict(_trim)

        nomkstream = d.pop("nomkstream", UNSET)

        if_last_id = d.pop("if_last_id", UNSET)

        delay_ms = d.pop("delay_ms", UNSET)

        deliver_at_ms = d.pop("deliver_at_ms", UNSET)

        xadd_body = cls(
            fields=fields,
            pairs=pairs,
            encoding=encoding,
            id=id,
            trim=trim,
            nomkstream=nomkstream,
            if_last_id=if_last_id,
            delay_ms=delay_ms,
            deliver_at_ms=deliver_at_ms,
        )

        return xadd_body
