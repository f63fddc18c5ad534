-- why: what was recovered from an owner and came back is owed to them again (MOR-037)
-- lock: ACCESS EXCLUSIVE on ledger.transfer and payouts.obligation for a moment: a check is replaced, and columns with a constant default
-- phase: expand

ALTER TABLE ledger.transfer DROP CONSTRAINT transfer_is_of_a_template;
ALTER TABLE ledger.transfer
    ADD CONSTRAINT transfer_is_of_a_template CHECK ((entry_type || ' ' || debit_account || ' ' || credit_account) IN (
        'CAMPAIGN_CHARGEBACK deferred_revenue disputed_funds',
        'CAMPAIGN_EARNED deferred_revenue coupon_revenue',
        'CAMPAIGN_PREPAYMENT merchant_account deferred_revenue',
        'CAMPAIGN_REFUND deferred_revenue refunds_payable',
        'CAMPAIGN_REFUND_MIRROR refunds_payable deferred_revenue',
        'CHARGEBACK_GROSS customer_deposits disputed_funds',
        'CHARGEBACK_GROSS org_payable disputed_funds',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commission_revenue org_payable',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable',
        'COMMISSION_EARNED commissions_payable commission_revenue',
        'COMMISSION_SWEEP cash_reserve merchant_account',
        'COMMISSION_SWEEP merchant_account cash_reserve',
        'DISPUTE_FEE org_payable merchant_account',
        'DISPUTE_FEE_REVERSAL merchant_account org_payable',
        'DISPUTE_FUNDS_REINSTATED cash_reserve disputed_funds',
        'DISPUTE_FUNDS_REINSTATED merchant_account disputed_funds',
        'DISPUTE_FUNDS_WITHDRAWN disputed_funds cash_reserve',
        'DISPUTE_FUNDS_WITHDRAWN disputed_funds merchant_account',
        'GROSS cash_reserve customer_deposits',
        'GROSS merchant_account org_payable',
        'PAYOUT_DUE customer_deposits org_payable',
        'PAYOUT_FAILED payouts_in_transit org_settlements',
        'PAYOUT_INITIATED org_settlements payouts_in_transit',
        'PAYOUT_PAID payouts_in_transit cash_reserve',
        'PLATFORM_FEE customer_deposits commissions_payable',
        'PLATFORM_FEE org_payable platform_fee_revenue',
        'PROCESSOR_FEES_ADJUSTMENT gateway_fee_expense merchant_account',
        'PROCESSOR_FEES_ADJUSTMENT merchant_account gateway_fee_expense',
        'PROCESSOR_FEES_ADJUSTMENT merchant_account org_payable',
        'PROCESSOR_FEES_ADJUSTMENT org_payable merchant_account',
        'PROCESSOR_FEES_FINAL gateway_fee_expense gateway_fees_payable',
        'PROCESSOR_FEES_FINAL org_payable merchant_account',
        'PROCESSOR_FEES_SETTLED gateway_fees_payable merchant_account',
        'RECON_ROUNDING cash_reserve rounding_adjustment',
        'RECON_ROUNDING merchant_account rounding_adjustment',
        'RECON_ROUNDING rounding_adjustment cash_reserve',
        'RECON_ROUNDING rounding_adjustment merchant_account',
        'REFUND_GROSS customer_deposits refunds_payable',
        'REFUND_GROSS org_payable refunds_payable',
        'REFUND_GROSS_MIRROR refunds_payable customer_deposits',
        'REFUND_GROSS_MIRROR refunds_payable org_payable',
        'REFUND_PLATFORM_FEE_MIRROR customer_deposits commissions_payable',
        'REFUND_PLATFORM_FEE_MIRROR org_payable commission_revenue',
        'REFUND_PLATFORM_FEE_MIRROR org_payable platform_fee_revenue',
        'REFUND_PLATFORM_FEE_REVERSAL commission_revenue org_payable',
        'REFUND_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits',
        'REFUND_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable',
        'REFUND_PROCESSOR_FEES_REVERSAL merchant_account gateway_fee_expense',
        'REFUND_PROCESSOR_FEES_REVERSAL merchant_account org_payable',
        'REFUND_SETTLED refunds_payable cash_reserve',
        'REFUND_SETTLED refunds_payable merchant_account',
        'REFUND_SETTLED_MIRROR cash_reserve refunds_payable',
        'REFUND_SETTLED_MIRROR merchant_account refunds_payable',
        'RESALE_SELLER_SHARE org_payable resale_seller_payable',
        'SELLER_PAID resale_seller_payable merchant_account',
        'TAX_REMITTED tax_payable cash_reserve',
        'TAX_WITHHELD customer_deposits tax_payable',
        'TRANSFER_REVERSAL merchant_account org_settlements',
        'TRANSFER_REVERSAL_MIRROR org_settlements merchant_account',
        'TRANSFER_TO_ORG org_settlements merchant_account',
        'UNAPPLIED_APPLIED unapplied_receipts cash_reserve',
        'UNAPPLIED_APPLIED unapplied_receipts merchant_account',
        'UNAPPLIED_CHARGEBACK unapplied_receipts disputed_funds',
        'UNAPPLIED_RECEIPT cash_reserve unapplied_receipts',
        'UNAPPLIED_RECEIPT merchant_account unapplied_receipts',
        'UNAPPLIED_REFUND unapplied_receipts refunds_payable',
        'UNAPPLIED_REFUND_MIRROR refunds_payable unapplied_receipts'
    )) NOT VALID;
ALTER TABLE ledger.transfer VALIDATE CONSTRAINT transfer_is_of_a_template;

-- What of it was kept from its payout to recover what its owner owed, and whether any of that is owed once more: what it
-- was paid for the first time is swept already.
ALTER TABLE payouts.obligation ADD COLUMN kept_minor bigint NOT NULL DEFAULT 0;
ALTER TABLE payouts.obligation ADD COLUMN is_returned boolean NOT NULL DEFAULT false;
ALTER TABLE payouts.obligation
    ADD CONSTRAINT obligation_kept_minor_check CHECK (kept_minor BETWEEN 0 AND due_minor) NOT VALID;
ALTER TABLE payouts.obligation VALIDATE CONSTRAINT obligation_kept_minor_check;
CREATE INDEX obligation_kept ON payouts.obligation (organization_id, payee_id) WHERE kept_minor > 0 AND state = 'PAID';
GRANT UPDATE (kept_minor, is_returned) ON payouts.obligation TO admitone_app;
