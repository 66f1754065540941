"""Whole versions: the text of a version made by a patch has the patch and the version that it applies to.

orders@v1.0  {nodes: …}     ◄── orders@v1.1  base v1.0, operations     ◄── orders@v1.2  base v1.1, operations
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from plait.kernel.definitions import Description
from plait.kernel.records import Records

from . import documents, json_patch
from .hashing import content_hash

_REMEMBERED = 64


class Materialised:
    def __init__(self, records: Records) -> None:
        self._records = records
        self._recent: OrderedDict[tuple[str, str], Description] = OrderedDict()
        """Recently used versions with chains of patches, which take several reads; versions never change."""

    async def get(self, namespace: str, id: str, *, chained: bool) -> Description:
        """Returns a whole version. `chained`: its text is a patch."""
        if not chained:
            return await documents.get(self._records, namespace, id)
        key = (namespace, id)
        if key not in self._recent:
            self._recent[key] = await self._read(namespace, id)
            if len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)
        self._recent.move_to_end(key)
        return self._recent[key]

    async def _read(self, namespace: str, id: str) -> Description:
        chain = [await documents.get(self._records, namespace, id)]
        while (patch := chain[-1].patch) is not None and chain[-1].body is None:
            top = chain[0]
            base = documents.document_id(top.dialect, top.name, patch.base, patch.base_hash)
            chain.append(await documents.get(self._records, namespace, base))
        body = chain.pop().body
        for each in reversed(chain):
            if each.patch is not None:
                body = json_patch.apply(body, each.patch.operations)
        found = msgspec.structs.replace(chain[0], body=body)
        if content_hash(body) != found.hash:
            raise documents.damaged(documents.KIND, id, "its patches give another content than was saved")
        return found
