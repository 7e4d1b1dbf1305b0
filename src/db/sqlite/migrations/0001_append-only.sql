CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers`
BEGIN
	SELECT RAISE(ABORT, 'transfers are append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `transfers_never_go` BEFORE DELETE ON `transfers`
BEGIN
	SELECT RAISE(ABORT, 'transfers are append-only');
END;
