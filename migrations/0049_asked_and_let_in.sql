-- why: an entry whose answer never reached its device is the entry that the device let in by its list, not another
-- lock: ACCESS EXCLUSIVE on entitlements.checkin, for a moment: 0050 looks at the rows
-- phase: expand

-- A scan that was asked for is known by its key too, which may be as long as any idempotency key.
ALTER TABLE entitlements.checkin
    DROP CONSTRAINT checkin_check3,
    DROP CONSTRAINT checkin_scan_key_check,
    ADD CONSTRAINT checkin_of_lease_has_key CHECK (lease_id IS NULL OR scan_key IS NOT NULL) NOT VALID,
    ADD CONSTRAINT checkin_scan_key_length CHECK (length(scan_key) BETWEEN 1 AND 255) NOT VALID;
