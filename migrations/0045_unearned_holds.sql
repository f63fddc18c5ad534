-- why: every row of the ledger is of a template, also those from before 0044
-- lock: SHARE UPDATE EXCLUSIVE on ledger.transfer while its rows are looked at: people go on buying
-- phase: expand

ALTER TABLE ledger.transfer VALIDATE CONSTRAINT transfer_is_of_a_template;
