CREATE TABLE "recording_bytes" (
	"account_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recordings" (
	"account_id" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"master_id" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "recordings_account_id_request_id_pk" PRIMARY KEY("account_id","request_id")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "recording" text;--> statement-breakpoint
CREATE INDEX "recordings_key" ON "recordings" USING btree ("account_id","key_id");--> statement-breakpoint
CREATE INDEX "recordings_end" ON "recordings" USING btree ("expires_at_ms");