-- why: a payment whose provider uses a word that we do not know waits for a person, and says so (PAY-061)
-- lock: ACCESS EXCLUSIVE on payments.payment for a moment: a column without default, checked by nothing that is there
-- phase: expand

ALTER TABLE payments.payment ADD COLUMN unreadable_status text;
ALTER TABLE payments.payment
    ADD CONSTRAINT payment_unreadable_status_check CHECK (length(unreadable_status) BETWEEN 1 AND 40) NOT VALID;
ALTER TABLE payments.payment VALIDATE CONSTRAINT payment_unreadable_status_check;
GRANT UPDATE (unreadable_status) ON payments.payment TO admitone_app;
