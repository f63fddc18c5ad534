-- why: every row of the log of doors keeps what 0049 asks of new ones
-- lock: SHARE UPDATE EXCLUSIVE on entitlements.checkin while its rows are looked at: doors stay open
-- phase: expand

ALTER TABLE entitlements.checkin VALIDATE CONSTRAINT checkin_of_lease_has_key;
ALTER TABLE entitlements.checkin VALIDATE CONSTRAINT checkin_scan_key_length;
