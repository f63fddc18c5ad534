-- why: an organisation sells in its own accent colour; NULL is ours
-- lock: ACCESS EXCLUSIVE on organizations.organization, for a moment: the column is empty
-- phase: expand

ALTER TABLE organizations.organization
    ADD COLUMN accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$');
