"""Where clients of this layout disagree about one and the same answer: the specification's choice, and why.

| what | here | what some clients want |
|---|---|---|
| status of an accepted recovery | 202 | exactly 200 |
| id of a sport, wherever one is named | the bare number 3 | `od:sport:3` |
| root of the void reasons | `void_reasons_descriptions` | `void_reasons`, without a locale in the path |

A dialect for clients that need the other choice would start here: no other file of the facade or its
documents has these values. (`void_reasons` has a path of its own and needs no dialect.)
"""

from app.domain.ids import CATEGORY

ACCEPTED_STATUS = 202
SPORT_ID = CATEGORY
