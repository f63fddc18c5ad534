-- why: an organisation says of itself what its public profile shows: which blocks, and the words that have nowhere else to live
-- lock: none, every object is new
-- phase: expand

-- TENANT: the versions of an organisation's public profile. Append-only: a change is the next version, and the last one
-- counts. In which order blocks stand is not theirs to say, and every profile has a hero.
CREATE TABLE organizations.profile_layout (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    version         integer     NOT NULL CHECK (version > 0),
    blocks          text[]      NOT NULL CHECK ('HERO' = ANY (blocks) AND cardinality(blocks) <= 9
                                                AND blocks <@ ARRAY['HERO', 'ABOUT', 'EVENTS_AGENDA', 'STORE', 'SERVICES',
                                                                    'FORMS', 'GALLERY', 'FAQ', 'CONTACT']),
    tagline         text        CHECK (length(tagline) BETWEEN 1 AND 140 AND tagline !~ '[\u0001-\u001f\u007f]'),
    about           text        CHECK (length(about) BETWEEN 1 AND 3000),
    questions       text[]      NOT NULL CHECK (cardinality(questions) <= 12 AND array_position(questions, NULL) IS NULL
                                                AND length(array_to_string(questions, '')) <= 12 * 160),
    answers         text[]      NOT NULL CHECK (array_position(answers, NULL) IS NULL
                                                AND length(array_to_string(answers, '')) <= 12 * 800),
    website         text        CHECK (length(website) <= 200
                                       AND website ~ '^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]{1,5})?([/?#][!-~]*)?$'),
    phone           text        CHECK (length(phone) <= 30 AND phone ~ '^\+?[0-9][0-9 ().-]{3,27}[0-9]$'),
    address         text        CHECK (length(address) BETWEEN 1 AND 160 AND address !~ '[\u0001-\u001f\u007f]'),
    changed_by      uuid,
    changed_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, version),
    -- Every question has its answer.
    CHECK (cardinality(questions) = cardinality(answers))
);
ALTER TABLE organizations.profile_layout ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations.profile_layout FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON organizations.profile_layout TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON organizations.profile_layout TO admitone_app;
