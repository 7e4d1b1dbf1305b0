-- Batches are decided from memory while the wallet's row has the version that they know. Programs of earlier versions,
-- which may run beside this one, set limits without writing that row.
CREATE FUNCTION "change_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE wallets SET state = state WHERE wallet_id = coalesce(NEW.wallet_id, OLD.wallet_id);
	RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "spend_limits_change_version" AFTER INSERT OR UPDATE OR DELETE ON "spend_limits"
FOR EACH ROW EXECUTE FUNCTION "change_version"();
