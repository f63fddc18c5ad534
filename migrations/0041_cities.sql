-- why: a planner that reads ORs and counted cities took it that hardly a row is of a city that may be seen, and compared each row of a batch with each
-- lock: none on tables
-- phase: expand

-- The same, said so that the planner guesses nothing from it.
CREATE OR REPLACE FUNCTION kernel.in_city(code text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN current_setting('app.city_codes', true) = '*' THEN true
            ELSE code = ANY (string_to_array(current_setting('app.city_codes', true), ',')) END;
