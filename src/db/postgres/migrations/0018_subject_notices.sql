CREATE TABLE "subject_crossings" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"rule_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"percent" bigint NOT NULL,
	"limit_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"resets_at_ms" bigint NOT NULL,
	"hour_ms" bigint NOT NULL,
	"kept_until_ms" bigint NOT NULL,
	"notice_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "subject_positions" (
	"account_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "of_subject" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "subject_crossings_once" ON "subject_crossings" USING btree ("rule_id","percent","limit_id","subject","resets_at_ms");--> statement-breakpoint
CREATE INDEX "subject_crossings_account" ON "subject_crossings" USING btree ("account_id","hour_ms");--> statement-breakpoint
CREATE INDEX "subject_crossings_pending" ON "subject_crossings" USING btree ("hour_ms") WHERE notice_id IS NULL;--> statement-breakpoint
CREATE INDEX "subject_crossings_kept" ON "subject_crossings" USING btree ("kept_until_ms");