CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text,
	`actor_kind` text NOT NULL,
	`actor_id` text NOT NULL,
	`actor_name` text NOT NULL,
	`is_acting` integer DEFAULT false NOT NULL,
	`action` text NOT NULL,
	`target` text NOT NULL,
	`before` text,
	`after` text,
	`address` text,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_account` ON `audit_entries` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `checkouts` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`paid_at_ms` integer,
	`credited_at_ms` integer,
	`expired_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `checkouts_account` ON `checkouts` (`account_id`);--> statement-breakpoint
CREATE TABLE `credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`user_id` text NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` integer,
	`refresh_token_expires_at` integer,
	`scope` text,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `credentials_user` ON `credentials` (`user_id`);--> statement-breakpoint
CREATE TABLE `idempotent_answers` (
	`credential` text NOT NULL,
	`digest` text NOT NULL,
	`request_digest` text NOT NULL,
	`answer` text,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`credential`, `digest`)
);
--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`digest` text,
	`invited_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`accepted_at_ms` integer,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_digest_unique` ON `invitations` (`digest`);--> statement-breakpoint
CREATE INDEX `invitations_account` ON `invitations` (`account_id`);--> statement-breakpoint
CREATE TABLE `leases` (
	`job` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`expires_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`template` text NOT NULL,
	`address` text NOT NULL,
	`data` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`next_at_ms` integer,
	`sent_at_ms` integer,
	`failed_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `mails_next` ON `mails` (`next_at_ms`);--> statement-breakpoint
CREATE TABLE `management_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text,
	`name` text NOT NULL,
	`hint` text NOT NULL,
	`digest` text NOT NULL,
	`role` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	`revoked_at_ms` integer,
	`last_used_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `management_keys_digest_unique` ON `management_keys` (`digest`);--> statement-breakpoint
CREATE INDEX `management_keys_account` ON `management_keys` (`account_id`);--> statement-breakpoint
CREATE TABLE `members` (
	`account_id` text NOT NULL,
	`person_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`account_id`, `person_id`)
);
--> statement-breakpoint
CREATE INDEX `members_person` ON `members` (`person_id`);--> statement-breakpoint
CREATE TABLE `notice_rules` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`threshold` integer NOT NULL,
	`emails` text NOT NULL,
	`webhook_url` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `notice_rules_account` ON `notice_rules` (`account_id`);--> statement-breakpoint
CREATE TABLE `notices` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`rule_id` text NOT NULL,
	`subject` text NOT NULL,
	`data` text NOT NULL,
	`raised_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	`read_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `notices_account` ON `notices` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `open_notices` (
	`rule_id` text NOT NULL,
	`subject` text NOT NULL,
	`notice_id` text NOT NULL,
	PRIMARY KEY(`rule_id`, `subject`)
);
--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`image` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`is_operator` integer DEFAULT false NOT NULL,
	`must_change_password` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_email_unique` ON `people` (`email`);--> statement-breakpoint
CREATE TABLE `proofs` (
	`id` text PRIMARY KEY NOT NULL,
	`identifier` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `proofs_identifier` ON `proofs` (`identifier`);--> statement-breakpoint
CREATE TABLE `redeem_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`hint` text NOT NULL,
	`amount` integer NOT NULL,
	`note` text,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	`redeemed_at_ms` integer,
	`account_id` text,
	`credited_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `redeem_codes_digest_unique` ON `redeem_codes` (`digest`);--> statement-breakpoint
CREATE TABLE `refused_requests` (
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`cause` text NOT NULL,
	`model` text NOT NULL,
	`minute_ms` integer NOT NULL,
	`gateway_id` text NOT NULL,
	`count` integer NOT NULL,
	`last_request_id` text NOT NULL,
	`facts` text NOT NULL,
	PRIMARY KEY(`account_id`, `minute_ms`, `key_id`, `cause`, `model`, `gateway_id`)
);
--> statement-breakpoint
CREATE INDEX `refused_requests_id` ON `refused_requests` (`last_request_id`);--> statement-breakpoint
CREATE INDEX `refused_requests_minute` ON `refused_requests` (`minute_ms`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token` text NOT NULL,
	`expires_at` integer NOT NULL,
	`ip_address` text,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`confirmed_at_ms` integer,
	`acting_account_id` text,
	`acting_until_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_unique` ON `sessions` (`token`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `shared_links` (
	`id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text,
	`shows_names` integer DEFAULT false NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shared_links_digest_unique` ON `shared_links` (`digest`);--> statement-breakpoint
CREATE INDEX `shared_links_account` ON `shared_links` (`account_id`);--> statement-breakpoint
CREATE TABLE `shared_values` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`notice_id` text NOT NULL,
	`url` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`next_at_ms` integer,
	`delivered_at_ms` integer,
	`failed_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `webhook_calls_next` ON `webhook_calls` (`next_at_ms`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_calls_once` ON `webhook_calls` (`notice_id`,`url`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_digest` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_hint` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_ends_at_ms` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_previous_digest_unique` ON `api_keys` (`previous_digest`);