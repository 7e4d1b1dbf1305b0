CREATE TABLE "forgotten_names" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"pseudonym" text COLLATE "C" NOT NULL,
	"forgotten_at_ms" bigint NOT NULL,
	CONSTRAINT "forgotten_names_wallet_id_digest_pk" PRIMARY KEY("wallet_id","digest")
);
--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "begun_at_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "used_day" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "spent" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "is_ending" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_child_gone" ON "api_keys" USING btree ("expires_at_ms") WHERE parent_id IS NOT NULL AND parent_digest IS NULL;--> statement-breakpoint
CREATE INDEX "runs_used_day" ON "runs" USING btree ("used_day");--> statement-breakpoint
CREATE INDEX "spend_limits_deleted" ON "spend_limits" USING btree ("deleted_at_ms") WHERE deleted_at_ms IS NOT NULL;--> statement-breakpoint
UPDATE "runs" SET "used_day" = "day";