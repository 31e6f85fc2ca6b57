-- REPLACE deletes the row in its way without asking the triggers of DELETE.

CREATE TRIGGER audit_entry_never_replaced BEFORE INSERT ON audit_entry
WHEN EXISTS (SELECT 1 FROM audit_entry WHERE audit_id = NEW.audit_id)
BEGIN SELECT RAISE(ABORT, 'audit_entry is append-only'); END;
