"""What the roles of people in an organisation are called."""

from typing import Final

ROLE_WORDS: Final[dict[str, str]] = {
    "OWNER": "Owner",
    "CO_OWNER": "Co-owner",
    "ADMIN": "Administrator",
    "STAFF": "Staff",
    "TRAINER": "Trainer",
    "PROMOTER": "Promoter",
    "VIEWER": "Viewer",
}
