CREATE TABLE "audit_entries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C",
	"actor_kind" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C" NOT NULL,
	"actor_name" text COLLATE "C" NOT NULL,
	"is_acting" boolean DEFAULT false NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"target" text COLLATE "C" NOT NULL,
	"before" text COLLATE "C",
	"after" text COLLATE "C",
	"address" text COLLATE "C",
	"at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "checkouts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"paid_at_ms" bigint,
	"credited_at_ms" bigint,
	"expired_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "credentials" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"provider_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"access_token" text COLLATE "C",
	"refresh_token" text COLLATE "C",
	"id_token" text COLLATE "C",
	"access_token_expires_at" timestamp (3) with time zone,
	"refresh_token_expires_at" timestamp (3) with time zone,
	"scope" text COLLATE "C",
	"password" text COLLATE "C",
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotent_answers" (
	"credential" text COLLATE "C" NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"request_digest" text COLLATE "C" NOT NULL,
	"answer" text COLLATE "C",
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "idempotent_answers_credential_digest_pk" PRIMARY KEY("credential","digest")
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"digest" text COLLATE "C",
	"invited_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"accepted_at_ms" bigint,
	"revoked_at_ms" bigint,
	CONSTRAINT "invitations_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"job" text COLLATE "C" PRIMARY KEY NOT NULL,
	"holder" text COLLATE "C" NOT NULL,
	"expires_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"template" text COLLATE "C" NOT NULL,
	"address" text COLLATE "C" NOT NULL,
	"data" text COLLATE "C" NOT NULL,
	"attempts" bigint DEFAULT 0 NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"next_at_ms" bigint,
	"sent_at_ms" bigint,
	"failed_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "management_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C",
	"name" text COLLATE "C" NOT NULL,
	"hint" text COLLATE "C" NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"revoked_at_ms" bigint,
	"last_used_at_ms" bigint,
	CONSTRAINT "management_keys_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"account_id" text COLLATE "C" NOT NULL,
	"person_id" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "members_account_id_person_id_pk" PRIMARY KEY("account_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "notice_rules" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"threshold" bigint NOT NULL,
	"emails" text COLLATE "C" NOT NULL,
	"webhook_url" text COLLATE "C",
	"version" bigint DEFAULT 1 NOT NULL,
	"created_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"rule_id" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"data" text COLLATE "C" NOT NULL,
	"raised_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"read_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "open_notices" (
	"rule_id" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"notice_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "open_notices_rule_id_subject_pk" PRIMARY KEY("rule_id","subject")
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text COLLATE "C",
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"is_operator" boolean DEFAULT false NOT NULL,
	"must_change_password" boolean DEFAULT false NOT NULL,
	CONSTRAINT "people_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "proofs" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"identifier" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "redeem_codes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"hint" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"note" text COLLATE "C",
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"redeemed_at_ms" bigint,
	"account_id" text COLLATE "C",
	"credited_at_ms" bigint,
	CONSTRAINT "redeem_codes_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "refused_requests" (
	"account_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"cause" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"minute_ms" bigint NOT NULL,
	"gateway_id" text COLLATE "C" NOT NULL,
	"count" bigint NOT NULL,
	"last_request_id" text COLLATE "C" NOT NULL,
	"facts" text COLLATE "C" NOT NULL,
	CONSTRAINT "refused_requests_account_id_minute_ms_key_id_cause_model_gateway_id_pk" PRIMARY KEY("account_id","minute_ms","key_id","cause","model","gateway_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"token" text COLLATE "C" NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ip_address" text COLLATE "C",
	"user_agent" text COLLATE "C",
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at_ms" bigint,
	"acting_account_id" text COLLATE "C",
	"acting_until_ms" bigint,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "shared_links" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C",
	"shows_names" boolean DEFAULT false NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"revoked_at_ms" bigint,
	CONSTRAINT "shared_links_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "shared_values" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"value" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_calls" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"notice_id" text COLLATE "C" NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	"attempts" bigint DEFAULT 0 NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"next_at_ms" bigint,
	"delivered_at_ms" bigint,
	"failed_at_ms" bigint
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "version" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "version" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "previous_digest" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "previous_hint" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "previous_ends_at_ms" bigint;--> statement-breakpoint
CREATE INDEX "audit_entries_account" ON "audit_entries" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "checkouts_account" ON "checkouts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "credentials_user" ON "credentials" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "invitations_account" ON "invitations" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "mails_next" ON "mails" USING btree ("next_at_ms");--> statement-breakpoint
CREATE INDEX "management_keys_account" ON "management_keys" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "members_person" ON "members" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "notice_rules_account" ON "notice_rules" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "notices_account" ON "notices" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "proofs_identifier" ON "proofs" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "refused_requests_id" ON "refused_requests" USING btree ("last_request_id");--> statement-breakpoint
CREATE INDEX "refused_requests_minute" ON "refused_requests" USING btree ("minute_ms");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "shared_links_account" ON "shared_links" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "webhook_calls_next" ON "webhook_calls" USING btree ("next_at_ms");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_calls_once" ON "webhook_calls" USING btree ("notice_id","url");--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_previous_digest_unique" UNIQUE("previous_digest");