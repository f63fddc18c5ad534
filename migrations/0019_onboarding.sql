-- why: how an organisation invoices (FIN-008), and when a provider said what it says of an account
-- lock: ACCESS EXCLUSIVE on organizations.organization and payments.account, for a moment: the columns are empty, and
--       nothing wrote to the second before
-- phase: expand

ALTER TABLE organizations.organization
    ADD COLUMN invoicing          text   CHECK (invoicing IN ('EXTERNAL', 'MANUAL')),
    ADD COLUMN invoicing_software text   CHECK (length(invoicing_software) BETWEEN 1 AND 100),
    ADD COLUMN invoicing_notes    text   CHECK (length(invoicing_notes) BETWEEN 1 AND 1000),
    ADD COLUMN invoicing_duties   text[] NOT NULL DEFAULT '{}' CHECK (cardinality(invoicing_duties) <= 8),
    ADD CONSTRAINT organization_invoices_with CHECK ((invoicing_software IS NOT NULL) = (invoicing IS NOT DISTINCT FROM 'EXTERNAL')),
    ADD CONSTRAINT organization_answers_for CHECK ((cardinality(invoicing_duties) > 0) = (invoicing IS NOT DISTINCT FROM 'MANUAL'));

-- What is older than what we have undoes nothing.
ALTER TABLE payments.account ADD COLUMN told_at timestamptz NOT NULL;
