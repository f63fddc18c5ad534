-- why: whether a payment exists is looked up by its whole key, also before the planner knows anything of the table
-- lock: ACCESS EXCLUSIVE on payments.payment and what refers to it, while the index is built and the references are
--       checked: there are no payments yet
-- phase: expand

-- Of indexes that look equally good for a table without statistics the planner takes the one that was made last. That
-- was the one by source, of which a reference to a payment has the organisation alone: every fact and every intent that
-- was written read all of the organisation's payments.
ALTER TABLE payments.payment_fact DROP CONSTRAINT payment_fact_organization_id_payment_id_fkey;
ALTER TABLE payments.gateway_intent DROP CONSTRAINT gateway_intent_organization_id_payment_id_fkey;
ALTER TABLE payments.unapplied_receipt DROP CONSTRAINT unapplied_receipt_organization_id_payment_id_fkey;
ALTER TABLE payments.payment DROP CONSTRAINT payment_pkey;
ALTER TABLE payments.payment ADD PRIMARY KEY (organization_id, id);
ALTER TABLE payments.payment_fact
    ADD FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id);
ALTER TABLE payments.gateway_intent
    ADD FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id);
ALTER TABLE payments.unapplied_receipt
    ADD FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id);
