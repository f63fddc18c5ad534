-- why: somebody who gives back a ticket says which one, and that one is taken (FIN-072)
-- lock: ACCESS EXCLUSIVE on refunds.refund_line for a moment: a column with a constant default
-- phase: expand

-- Which of the line's pieces, by the numbers that whoever sold them gave them; of the rest only the number is known.
ALTER TABLE refunds.refund_line ADD COLUMN pieces integer[] NOT NULL DEFAULT '{}';
ALTER TABLE refunds.refund_line
    ADD CONSTRAINT refund_line_pieces_check CHECK (cardinality(pieces) <= quantity) NOT VALID;
ALTER TABLE refunds.refund_line VALIDATE CONSTRAINT refund_line_pieces_check;
