CREATE TABLE `plan_grants` (
	`id` text PRIMARY KEY NOT NULL,
	`subscription_id` text NOT NULL,
	`account_id` text NOT NULL,
	`period` integer NOT NULL,
	`is_raise` integer DEFAULT false NOT NULL,
	`plan_id` text NOT NULL,
	`amount` integer NOT NULL,
	`starts_at_ms` integer NOT NULL,
	`ends_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`decided_at_ms` integer NOT NULL,
	`booked_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `plan_grants_subscription` ON `plan_grants` (`subscription_id`,`period`);--> statement-breakpoint
CREATE INDEX `plan_grants_unbooked` ON `plan_grants` (`decided_at_ms`) WHERE booked_at_ms IS NULL;--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`state` text NOT NULL,
	`plan` text NOT NULL,
	`next_plan` text,
	`time_zone` text NOT NULL,
	`anchor_ms` integer NOT NULL,
	`anchor_period` integer NOT NULL,
	`next_period` integer NOT NULL,
	`period_grant` integer NOT NULL,
	`next_at_ms` integer,
	`is_cancelling` integer DEFAULT false NOT NULL,
	`created_at_ms` integer NOT NULL,
	`created_by` text NOT NULL,
	`paused_at_ms` integer,
	`ended_at_ms` integer,
	`version` integer DEFAULT 1 NOT NULL,
	`applied_version` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `subscriptions_account` ON `subscriptions` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_live` ON `subscriptions` (`account_id`) WHERE ended_at_ms IS NULL;--> statement-breakpoint
CREATE INDEX `subscriptions_next` ON `subscriptions` (`next_at_ms`) WHERE next_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `subscriptions_unapplied` ON `subscriptions` (`id`) WHERE applied_version < version;--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan_models` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan_markup` integer;