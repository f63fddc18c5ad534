"""The manifest of mail."""

from admitone.foundation.mail.handlers import NOT_SENT, deliver, deliver_at_leisure, notice_waiting
from admitone.foundation.mail.settings import KEYS
from admitone.kernel.jobs import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="mail",
    tables=(Table("letter", TableClass.PLATFORM, Privacy.PERSONAL, retention_days=7),),
    config=KEYS,
    jobs=(deliver, deliver_at_leisure, notice_waiting),
    schedules=(Schedule("mail.notice_waiting", "*/5 * * * *", notice_waiting),),
    alerts=(NOT_SENT,),
)
